/** The bot's own client makes one try of each request; the engine searches, waits as configured, and repeats. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { asking } from "#test/support/bot/asking.ts";
import { createWorld, type World } from "#test/support/bot/world.ts";

let world: World;
let alice: ReturnType<typeof asking>;
beforeAll(async () => {
  world = await createWorld();
  alice = asking(world);
  await world.start();
});
afterAll(() => world.close());

const create = { method: "POST", path: /\/agent\/runs?$/ } as const;
const createsOf = (prompt: string) => world.creates().filter(({ body }) => body.includes(prompt)).length;
const runsOf = async (prompt: string) =>
  (await world.runs()).filter((run) => run.prompt.includes(prompt)).length;

test("a create that is performed and answered with 503 makes one run, by one request", async () => {
  world.failApi({ ...create, when: "after", status: 503 });
  const ts = await alice.ask("fix it behind the proxy");
  await alice.replyWith(ts, "I read this");
  expect(await runsOf("fix it behind the proxy")).toBe(1);
  expect(createsOf("fix it behind the proxy")).toBe(1);
});

test("a create that a 503 refuses is repeated after the configured settling time, not the default one", async () => {
  world.failApi({ ...create, when: "before", status: 503 });
  const ts = await alice.ask("fix it after a second");
  await alice.replyWith(ts, "I read this");
  expect(await runsOf("fix it after a second")).toBe(1);
  expect(createsOf("fix it after a second")).toBe(2);
});

test("a create that a rate limit refuses is repeated by the engine, not by the client", async () => {
  world.failApi({ ...create, when: "before", status: 429 });
  const ts = await alice.ask("fix it within limits");
  await alice.replyWith(ts, "I read this");
  expect(createsOf("fix it within limits")).toBe(2);
  // The engine's line about the first try; a try of the client's own would not be known to it.
  expect(world.log()).toMatch(/"kind":"create","tries":0,"certainty":"refused"/);
});
