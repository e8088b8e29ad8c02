/** The bot takes or ignores every frame over Socket Mode, and keeps running. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";
import { memoryOf } from "#test/support/processes.ts";
import { slackButton, slackCommand, slackMessage } from "#test/support/signed.ts";
import { brokenBodies, deepJson, deranged } from "./deranged.ts";

let world: World;
let pid: number;
beforeAll(async () => {
  world = await createWorld({ socketMode: true });
  await world.start();
  pid = world.pid();
});
afterAll(() => world.close());

/** Frames arrive in order: once a run that was requested after them works, all were read. */
async function livesOn(words: string): Promise<void> {
  await world.slack.slash({ user: "alice", channel: "general", text: `run ${words}` });
  await eventually(words, () => world.creates().some(({ body }) => body.includes(words)));
  expect(world.creates().filter(({ body }) => body.includes(words)).length).toBe(1);
  expect(world.pid()).toBe(pid);
  expect(world.log()).not.toMatch(/uncaught error|Unhandled rejection/);
}

const envelope = (type: string, payload: unknown) => ({
  envelope_id: randomUUID(),
  type,
  accepts_response_payload: false,
  payload,
});

test("frames that are not envelopes have no effect", async () => {
  for (const body of brokenBodies) world.slack.sayOnConnections(body);
  for (const type of ["events_api", "interactive", "slash_commands", "hello again", "", null]) {
    for (const payload of [undefined, null, "text", 7, [], {}, { event: null }, { actions: [null] }]) {
      world.slack.sayOnConnections(JSON.stringify({ ...envelope("", payload), type }));
    }
  }
  world.slack.sayOnConnections(`{"type":"events_api","envelope_id":"deep","payload":${deepJson(10_000)}}`);
  await livesOn("after the broken frames");
});

test.each([
  ["events_api", () => slackMessage()],
  ["interactive", () => slackButton()],
  ["slash_commands", () => slackCommand("status")],
])("payloads of almost the right shape in %s have no effect", async (type, base) => {
  const known = world.creates().length;
  const payloads = fc.constant(null).chain(() => deranged({ ...base() }));
  for (const payload of fc.sample(payloads, { numRuns: 150, seed: 7 })) {
    world.slack.sayOnConnections(JSON.stringify(envelope(type, payload)));
  }
  await livesOn(`after the odd ${type}`);
  expect(world.creates().length).toBe(known + 1);
});

test("an envelope received a hundred times creates one run", async () => {
  const said = slackCommand("run what is said a hundred times");
  const command = { ...said, channel_id: world.channel("general").id };
  for (let time = 0; time < 100; time += 1) {
    world.slack.sayOnConnections(JSON.stringify(envelope("slash_commands", command)));
  }
  await eventually("the run", () => world.creates().some(({ body }) => body.includes("a hundred times")));
  await livesOn("after the repeated envelope");
  expect(world.creates().filter(({ body }) => body.includes("a hundred times")).length).toBe(1);
});

test("memory stays bounded under a hundred megabytes of messages", async () => {
  const before = memoryOf(pid);
  const frame = JSON.stringify(envelope("events_api", slackMessage("x".repeat(1024 * 1024))));
  // In parts, since a slow machine that reads them all at once misses the pings of its connection.
  for (let part = 0; part < 10; part += 1) {
    for (let time = 0; time < 10; time += 1) world.slack.sayOnConnections(frame);
    await livesOn(`after part ${part} of the long messages`);
  }
  expect(memoryOf(pid) - before).toBeLessThan(200);
});
