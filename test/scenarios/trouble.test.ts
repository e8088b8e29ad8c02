import { afterAll, beforeAll, expect, test } from "vitest";
import { asking } from "#test/support/bot/asking.ts";
import { createWorld, type World, written } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

/** One bot meets one fault after another. */
let world: World;
let alice: ReturnType<typeof asking>;
beforeAll(async () => {
  world = await createWorld();
  alice = asking(world);
  await world.start();
});
afterAll(() => world.close());

const runsOf = async (prompt: string) =>
  (await world.runs()).filter((run) => run.prompt.includes(prompt)).length;

test("a create request that takes effect but gets no answer creates one run", async () => {
  world.failApi({ method: "POST", path: /\/agent\/runs?$/, when: "after" });
  const ts = await alice.ask("fix it once");
  await alice.replyWith(ts, "I read this");
  expect(await runsOf("fix it once")).toBe(1);
  expect(world.creates().filter(({ body }) => body.includes("fix it once")).length).toBe(1);
});

test("a create request that never arrives is sent again", async () => {
  world.failApi({ method: "POST", path: /\/agent\/runs?$/, when: "before", times: 2 });
  const ts = await alice.ask("fix it at last");
  await alice.replyWith(ts, "I read this");
  expect(await runsOf("fix it at last")).toBe(1);
});

test("a refusal is posted with the API's own reason and link", async () => {
  world.failApi({
    method: "POST",
    path: /\/agent\/runs?$/,
    when: "before",
    status: 401,
    body: {
      type: "https://example.com/errors/external_authentication_required",
      title: "GitHub has to be authorized first",
      status: 401,
      detail: "Authorize GitHub for this team.",
      auth_url: "https://example.com/authorize",
    },
  });
  const ts = await alice.ask("fix what is refused");
  const told = written(await alice.replyWith(ts, "could not be started"));
  expect(told).toContain("Authorize GitHub for this team.");
  expect(told).toContain("https://example.com/authorize");
});

test("a follow-up whose answer is lost arrives once and starts no second run", async () => {
  const ts = await alice.ask("fix the code");
  await alice.replyWith(ts, "I read this");
  world.failApi({ method: "POST", path: /\/followups$/, when: "after" });
  const said = await world.slack.say({ user: "alice", channel: "general", thread: ts, text: "and the docs" });
  await eventually(
    "the mark",
    () => world.thread("general", ts).find((message) => message.ts === said.ts)?.reactions?.length,
  );
  expect(world.apiCalls.filter(({ path }) => path.endsWith("/followups")).length).toBe(1);
  expect(await runsOf("fix the code")).toBe(1);
});

test("a run is followed to its end despite errors while polling", async () => {
  const ts = await alice.ask("fix it unseen");
  world.failApi({ method: "GET", path: /\/agent\/runs/, when: "before", times: 4 });
  world.failApi({
    method: "GET",
    path: /\/agent\/runs/,
    when: "before",
    times: 2,
    status: 500,
    body: { nonsense: true },
  });
  await alice.replyWith(ts, "I read this");
});

test("a final post that Slack rate-limits is posted later, once", async () => {
  const ts = await alice.ask("take your time");
  await alice.showsProgress();
  world.slack.fail({ method: "chat.postMessage", times: 2, with: { retryAfter: 1 } });
  await world.slack.press({ user: "alice", channel: "general", ts, action: "cancel" });
  await alice.replyWith(ts, "was cancelled");
  expect(alice.replies(ts, "was cancelled").length).toBe(1);
});

test("posts that took effect without an answer are looked up and not repeated", async () => {
  world.slack.fail({ method: "chat.postMessage", with: { reset: "after" } });
  const known = world.cards("general").length;
  const ts = await alice.ask("fix it in silence");
  await alice.replyWith(ts, "I read this");
  expect(world.cards("general").length).toBe(known + 1);
  world.github.fail({ method: "POST", path: /\/comments$/, with: { reset: "after" } });
  const { number } = await world.github.openIssue({ user: "bob", repo: "octo/app", title: "Once", body: "" });
  await world.github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  await eventually("the answer", () =>
    world.comments(number).some(({ body }) => body.includes("I read this")),
  );
  expect(world.comments(number).filter(({ body }) => body.includes("Asked by")).length).toBe(1);
});
