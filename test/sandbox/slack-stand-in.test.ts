import { WebAPIPlatformError, WebClient } from "@slack/web-api";
import { expect, test } from "vitest";
import { vendorLog } from "#slack/web-client.ts";
import { silentLog } from "#test/support/logs.ts";
import { botToken, createWorld, messagesIn, type World } from "#test/support/slack/world.ts";

const clientOf = (world: World, token = botToken) =>
  new WebClient(token, {
    slackApiUrl: world.apiUrl,
    retryConfig: { retries: 0 },
    logger: vendorLog(silentLog),
    rejectRateLimitedCalls: true,
  });

async function errorOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof WebAPIPlatformError) return error.data.error;
    throw error;
  }
  return "none";
}

test("it refuses what Slack refuses, with Slack's error codes", async () => {
  await using world = await createWorld();
  const client = clientOf(world);
  const section = (text: string) => ({ type: "section" as const, text: { type: "mrkdwn" as const, text } });
  const post = (more: object) =>
    errorOf(client.chat.postMessage({ channel: "C0GENERAL", text: "hi", ...more }));
  expect(await post({ channel: "C0RANDOM" })).toBe("not_in_channel");
  expect(await post({ channel: "C0NOWHERE" })).toBe("channel_not_found");
  expect(await post({ text: "" })).toBe("no_text");
  expect(await post({ text: "x".repeat(40_001) })).toBe("msg_too_long");
  expect(await post({ blocks: [section("x".repeat(3_001))] })).toBe("invalid_blocks");
  expect(await post({ blocks: Array.from({ length: 51 }, () => section("x")) })).toBe("invalid_blocks");
  expect(
    await post({
      blocks: ["x".repeat(7_000), "y".repeat(7_000)].map((text) => ({ type: "markdown", text })),
    }),
  ).toBe("invalid_blocks");
  expect(await post({ thread_ts: "1.000001" })).toBe("thread_not_found");
  expect(await errorOf(clientOf(world, "xoxb-other").auth.test())).toBe("invalid_auth");
  expect(await errorOf(client.conversations.replies({ channel: "C0GENERAL", ts: "1.000001" }))).toBe(
    "thread_not_found",
  );
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  expect(await errorOf(client.chat.update({ channel: "C0GENERAL", ts, text: "mine" }))).toBe(
    "cant_update_message",
  );
  expect(messagesIn(world.slack)).toHaveLength(1);
});

test("it returns metadata on request only, and pages in both directions", async () => {
  await using world = await createWorld();
  const client = clientOf(world);
  const metadata = { event_type: "x", event_payload: { effect: "e1" } };
  const { ts = "" } = await client.chat.postMessage({ channel: "C0GENERAL", text: "root", metadata });
  for (const text of ["one", "two", "three"]) {
    await world.slack.say({ user: "alice", channel: "general", text, thread: ts });
  }
  const thread = { channel: "C0GENERAL", ts, limit: 2 };
  const first = await client.conversations.replies(thread);
  expect(first.messages?.map(({ text }) => text)).toEqual(["root", "one"]);
  expect(first.messages?.[0]).toMatchObject({ reply_count: 3, bot_id: "B0SANDBOX" });
  expect(first.messages?.[0]).not.toHaveProperty("metadata");
  const cursor = first.response_metadata?.next_cursor ?? "";
  const second = await client.conversations.replies({ ...thread, cursor });
  expect(second.messages?.map(({ text }) => text)).toEqual(["two", "three"]);
  expect(second.response_metadata?.next_cursor).toBe("");
  await world.slack.say({ user: "bob", channel: "general", text: "newest" });
  const history = await client.conversations.history({ channel: "C0GENERAL", include_all_metadata: true });
  expect(history.messages?.map(({ text }) => text)).toEqual(["newest", "root"]);
  expect(history.messages?.[1]).toMatchObject({ metadata });
});

test("typed text is encoded as Slack encodes it", async () => {
  await using world = await createWorld();
  await world.slack.say({
    user: "alice",
    channel: "general",
    text: "@agent a<b & @bob #general @here https://a.example/x <@UBOB>",
  });
  expect(messagesIn(world.slack)[0]?.text).toBe(
    "<@UBOT> a&lt;b &amp; <@UBOB> <#C0GENERAL|general> <!here> <https://a.example/x> <@UBOB>",
  );
});

test("the bot gets no events from a channel until it is invited", async () => {
  await using world = await createWorld();
  const act = { user: "alice", channel: "random" };
  expect((await world.slack.say({ ...act, text: "@agent hi" })).statuses).toEqual([]);
  await world.slack.invite(act);
  expect((await world.slack.say({ ...act, text: "@agent hi" })).statuses).toEqual([200, 200]);
});

test("an old message that is delivered again is the same event", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  await world.slack.again({ channel: "general", ts });
  expect(world.events).toHaveLength(2);
  expect(world.events[0]).toEqual(world.events[1]);
});

test("it calls its listeners on changes, and continues from a snapshot", async () => {
  await using world = await createWorld();
  let changes = 0;
  const stop = world.slack.subscribe(() => {
    changes += 1;
  });
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  expect(changes).toBe(1);
  stop();
  await world.slack.say({ user: "alice", channel: "general", text: "again" });
  expect(changes).toBe(1);
  const initial = JSON.parse(JSON.stringify(world.slack.snapshot()));
  await using later = await createWorld({ initial });
  const answer = await later.slack.say({ user: "bob", channel: "general", text: "well", thread: ts });
  expect(answer.statuses).toEqual([200]);
  expect(later.events).toMatchObject([{ place: `slack:T0SANDBOX:C0GENERAL:${ts}`, first: false }]);
});
