import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import {
  card,
  general,
  type OpenedSandbox,
  openSandbox,
  type Received,
  random,
} from "#test/support/sandbox/opened-sandbox.ts";

async function receivedOne(opened: OpenedSandbox, count = 1): Promise<Received> {
  await expect.poll(() => opened.received.length).toBeGreaterThanOrEqual(count);
  const one = opened.received[count - 1];
  if (one === undefined) throw new Error("nothing was received");
  return one;
}

function expectSlackSigned({ headers, body }: Received, { sandbox }: OpenedSandbox): void {
  const basis = `v0:${headers["x-slack-request-timestamp"]}:${body}`;
  const { SLACK_SIGNING_SECRET = "" } = sandbox.environment;
  const digest = createHmac("sha256", SLACK_SIGNING_SECRET).update(basis).digest("hex");
  expect(headers["x-slack-signature"]).toBe(`v0=${digest}`);
}

function expectGitHubSigned({ headers, body }: Received, { sandbox }: OpenedSandbox): void {
  const { GITHUB_WEBHOOK_SECRET = "" } = sandbox.environment;
  const digest = createHmac("sha256", GITHUB_WEBHOOK_SECRET).update(body).digest("hex");
  expect(headers["x-hub-signature-256"]).toBe(`sha256=${digest}`);
}

test("a slash command reaches the bot's endpoint, signed, and the page gets the bot's status", async () => {
  const opened = await openSandbox();
  const said = { user: "alice", channel: general, text: "/agent run fix the flaky test" };
  expect(await opened.act("slack/say", said)).toEqual({ status: 200, answer: { ok: true, status: 200 } });
  const one = await receivedOne(opened);
  expect(one.path).toBe("/slack/events");
  expectSlackSigned(one, opened);
  const fields = new URLSearchParams(one.body);
  expect(fields.get("command")).toBe("/agent");
  expect(fields.get("text")).toBe("run fix the flaky test");
  expect(fields.get("user_id")).toBe("UALICE");
});

test("a message and a mention reach the bot as signed events", async () => {
  const opened = await openSandbox();
  await opened.act("slack/say", { user: "bob", channel: general, text: "@agent have a look" });
  await receivedOne(opened, 2);
  for (const one of opened.received) expectSlackSigned(one, opened);
  const types = opened.received.map(({ body }) => JSON.parse(body).event.type).sort();
  expect(types).toEqual(["app_mention", "message"]);
});

test("messages in a channel without the bot are not sent to it", async () => {
  const opened = await openSandbox();
  await opened.act("slack/say", { user: "alice", channel: random, text: "hello" });
  await opened.act("slack/say", { user: "alice", channel: general, text: "and here" });
  await receivedOne(opened);
  expect(opened.received.map(({ body }) => JSON.parse(body).event.text)).toEqual(["and here"]);
});

test("a reply is sent with its thread", async () => {
  const opened = await openSandbox();
  const { ts } = await opened.slack("chat.postMessage", card("*In progress*"));
  const before = opened.received.length;
  await opened.act("slack/say", { user: "alice", channel: general, text: "go on", thread: ts });
  await expect
    .poll(() => opened.received.slice(before).map(({ body }) => JSON.parse(body).event.thread_ts))
    .toContain(ts);
});

test("a pressed button reaches the bot as a signed interaction", async () => {
  const opened = await openSandbox();
  const { ts } = await opened.slack("chat.postMessage", card("*In progress*"));
  await receivedOne(opened);
  const pressed = { user: "bob", channel: general, ts, action: "cancel" };
  expect(await opened.act("slack/press", pressed)).toEqual({
    status: 200,
    answer: { ok: true, status: 200 },
  });
  const one = await receivedOne(opened, 2);
  expectSlackSigned(one, opened);
  const payload = JSON.parse(new URLSearchParams(one.body).get("payload") ?? "");
  expect(payload).toMatchObject({ type: "block_actions", user: { id: "UBOB" }, actions: [{ value: "d1" }] });
});

test("pressing a button that is gone fails, and sends nothing to the bot", async () => {
  const opened = await openSandbox();
  const { ts } = await opened.slack("chat.postMessage", { channel: general, text: "no button" });
  await receivedOne(opened);
  const pressed = { user: "bob", channel: general, ts, action: "cancel" };
  expect(await opened.act("slack/press", pressed)).toMatchObject({ status: 422, answer: { ok: false } });
  expect(opened.received).toHaveLength(1);
});

test("an issue, its label and its comment reach the bot as signed webhooks, in this order", async () => {
  const opened = await openSandbox();
  const issue = { user: "bob", title: "Search is slow", body: "Very." };
  const { answer } = await opened.act("github/open", issue);
  expect(answer).toEqual({ ok: true, status: 200, number: 2 });
  await opened.act("github/label", { user: "alice", issue: 2, label: "agent", on: true });
  await opened.act("github/comment", { user: "mallory", issue: 2, body: "Me too." });
  expect(opened.received.map(({ path }) => path)).toEqual(Array(3).fill("/github/webhooks"));
  for (const one of opened.received) expectGitHubSigned(one, opened);
  const told = opened.received.map(({ headers, body }) => {
    const { action, sender } = JSON.parse(body);
    return [headers["x-github-event"], action, sender.login];
  });
  expect(told).toEqual([
    ["issues", "opened", "bob"],
    ["issues", "labeled", "alice"],
    ["issue_comment", "created", "mallory"],
  ]);
});

test("people with read access can't add a label, as on GitHub", async () => {
  const opened = await openSandbox();
  const answer = await opened.act("github/label", { user: "mallory", issue: 1, label: "agent", on: true });
  expect(answer).toMatchObject({ status: 422, answer: { ok: false } });
  expect(opened.received).toEqual([]);
});

test("the person who acted learns that the bot refused a webhook", async () => {
  const opened = await openSandbox();
  opened.answerWith(503);
  const { answer } = await opened.act("github/comment", { user: "alice", issue: 1, body: "Hello?" });
  expect(answer).toEqual({ ok: true, status: 503 });
  const said = await opened.act("slack/say", { user: "alice", channel: general, text: "/agent help" });
  expect(said.answer).toEqual({ ok: true, status: 503 });
});

const nonsense: readonly (readonly [string, string, unknown])[] = [
  [
    "a command in a thread",
    "slack/say",
    { user: "alice", channel: general, text: "/agent list", thread: "1.1" },
  ],
  ["a command that nobody has", "slack/say", { user: "alice", channel: general, text: "/remind me" }],
  ["an empty message", "slack/say", { user: "alice", channel: general, text: "  " }],
  ["a message by the bot", "slack/say", { user: "agent", channel: general, text: "hello" }],
  ["a message by nobody", "slack/say", { user: "zoe", channel: general, text: "hello" }],
  ["a message to nowhere", "slack/say", { user: "alice", channel: "C9", text: "hello" }],
  ["an issue by the bot", "github/open", { user: "agent-runs-bot", title: "x", body: "" }],
  ["an issue without a title", "github/open", { user: "alice", title: "", body: "" }],
  ["a comment on nothing", "github/comment", { user: "alice", issue: 99, body: "hello" }],
  ["a label without a name", "github/label", { user: "alice", issue: 1, label: "", on: true }],
  ["a body that is a list", "github/comment", [1, 2]],
  ["a body that is null", "slack/press", null],
];
test.each(nonsense)(
  "%s is refused with a sentence, and nothing is sent to the bot",
  async (_, path, body) => {
    const opened = await openSandbox();
    const { status, answer } = await opened.act(path, body);
    expect(status).toBe(422);
    expect(answer).toEqual({ ok: false, error: expect.stringMatching(/\w/) });
    expect(opened.received).toEqual([]);
  },
);

test.each(["slack/edit", "slack", "nowhere/say", "slack/constructor", "__proto__/say", "slack/say/more"])(
  "the act %s does not exist",
  async (path) => {
    const opened = await openSandbox();
    expect((await opened.act(path, {})).status).toBe(404);
  },
);
