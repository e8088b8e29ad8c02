import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { ReadEffect } from "#core/effect.ts";
import { emptyWorkspace, type SlackMessage } from "#sandbox/slack/workspace.ts";
import {
  base,
  card,
  createWorld,
  faultOf,
  general,
  performed,
  random,
  reply,
  tell,
  view,
  type World,
} from "#test/support/slack/world.ts";

/** Returns the response URL of a slash command by alice. */
async function answerVia(world: World, channel = "general"): Promise<string> {
  await world.slack.slash({ user: "alice", channel, text: "list" });
  const event = world.events.at(-1);
  if (event?.kind !== "command" || event.answerVia === undefined) throw new Error("no response URL");
  return event.answerVia;
}
const whispers = (world: World) => world.slack.snapshot().ephemerals.UALICE ?? [];

test("a private message uses the command's response URL, even where the bot is not a member", async () => {
  await using world = await createWorld();
  await performed(world.platform, tell(random, { answerVia: await answerVia(world, "random") }));
  expect(whispers(world)).toMatchObject([{ channel: "C0RANDOM", text: "Only you see this" }]);
  expect(world.slack.calls.map(({ method }) => method)).not.toContain("chat.postEphemeral");
});

test("without a response URL, a private message is an ephemeral one in the thread", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  await performed(world.platform, tell(`${general}:${ts}`));
  expect(whispers(world)).toMatchObject([{ channel: "C0GENERAL", thread_ts: ts }]);
});

test("an expired or used-up response URL falls back to the channel", async () => {
  await using world = await createWorld();
  const via = await answerVia(world);
  for (let times = 0; times < 6; times += 1)
    await performed(world.platform, tell(general, { answerVia: via }));
  expect(whispers(world)).toHaveLength(6);
  const ephemeral = world.slack.calls.filter(({ method }) => method === "chat.postEphemeral");
  expect(ephemeral).toHaveLength(1);
  const gone = `${world.slack.baseUrl}/respond/unknown`;
  await performed(world.platform, tell(general, { answerVia: gone }));
  expect(whispers(world)).toHaveLength(7);
});

test("a private message that Slack limits or fails is tried again", async () => {
  await using world = await createWorld({ timeoutMs: 300 });
  const effect = tell(general, { answerVia: await answerVia(world) });
  world.slack.fail({ method: "respond", with: { retryAfter: 5 } });
  expect(await faultOf(world.platform, effect)).toMatchObject({ limited: true, retryAfterMs: 5_000 });
  world.slack.fail({ method: "respond", with: { status: 500 } });
  expect(await faultOf(world.platform, effect)).toMatchObject({ certainty: "unknown", retryable: true });
  world.slack.fail({ method: "respond", with: { hang: "before" } });
  expect(await faultOf(world.platform, effect)).toMatchObject({ certainty: "unknown", retryable: true });
  expect(whispers(world)).toEqual([]);
});

test("a proxy's page in place of Slack's answer is not taken for it", async () => {
  await using world = await createWorld();
  const proxy = createServer((_, response) => void response.end("<html>Try again later.</html>"));
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as AddressInfo;
  const effect = tell(general, { answerVia: `http://127.0.0.1:${port}/respond` });
  expect(await faultOf(world.platform, effect)).toMatchObject({ certainty: "unknown", retryable: true });
  proxy.close();
});

test("where the bot can't post, and the response URL has expired, a private message is a direct one", async () => {
  await using world = await createWorld();
  const gone = `${world.slack.baseUrl}/respond/unknown`;
  await performed(world.platform, tell(random, { answerVia: gone }));
  await performed(world.platform, tell(random));
  const { channels } = world.slack.snapshot();
  expect(whispers(world)).toEqual([]);
  expect(channels.filter(({ kind }) => kind === "im")).toMatchObject([
    {
      members: ["UALICE", "UBOT"],
      messages: [{ text: "Only you see this" }, { text: "Only you see this" }],
    },
  ]);
  expect(world.events.filter(({ by }) => by.id === "UBOT")).toEqual([]);
});

test("a private message that Slack refuses even as a direct one fails", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "chat.postMessage", with: { error: "messages_tab_disabled" } });
  expect(await faultOf(world.platform, tell(random))).toMatchObject({
    code: "messages_tab_disabled",
    retryable: false,
  });
});

test("a private message to a person of another platform is refused", async () => {
  await using world = await createWorld();
  const person = { platform: "github", id: "octo", name: "octo", bot: false };
  expect(await faultOf(world.platform, tell(general, { person }))).toMatchObject({ retryable: false });
});

const startSeconds = 1_700_000_000;
const tsOf = (index: number): string => `${startSeconds + index}.000100`;
const timeOf = (index: number): string => new Date((startSeconds + index) * 1000).toISOString();

/** A thread of `count` messages, one a second, by alice and bob in turn. */
const threadOf = (
  count: number,
  change: (message: SlackMessage, index: number) => SlackMessage = (m) => m,
) => {
  const messages = Array.from(
    { length: count },
    (_, index): SlackMessage =>
      change(
        {
          ts: tsOf(index),
          thread_ts: tsOf(0),
          user: index % 2 ? "UBOB" : "UALICE",
          text: `message ${index}`,
        },
        index,
      ),
  );
  const channels = emptyWorkspace.channels.map((channel) => ({ ...channel, messages }));
  return { ...emptyWorkspace, channels };
};
const place = `${general}:${tsOf(0)}`;
const read = (more: Partial<ReadEffect> = {}): ReadEffect => ({
  ...base(place),
  at: place,
  kind: "read",
  dispatch: "d1",
  until: timeOf(100_000),
  ...more,
});

test("a thread is read oldest first, up to the request and without it", async () => {
  await using world = await createWorld({ initial: threadOf(6) });
  const { messages, omitted } = await performed(world.platform, read({ until: timeOf(4), except: tsOf(4) }));
  expect(messages.map(({ text }) => text)).toEqual(["message 0", "message 1", "message 2", "message 3"]);
  expect(messages[1]).toEqual({ author: "UBOB", at: timeOf(1), text: "message 1", bot: false });
  expect(omitted).toBe(0);
});

test("the first and the newest messages of a long thread are kept, across all pages", async () => {
  await using world = await createWorld({ initial: threadOf(530) });
  const { messages, omitted } = await performed(world.platform, read());
  expect(messages).toHaveLength(100);
  expect(messages.at(-1)?.text).toBe("message 529");
  expect(messages.slice(0, 2).map(({ text }) => text)).toEqual(["message 0", "message 431"]);
  expect(omitted).toBe(430);
  expect(world.slack.calls.filter(({ method }) => method === "conversations.replies")).toHaveLength(3);
});

test("a message that was edited afterwards is left out and counted", async () => {
  const initial = threadOf(4, (message, index) =>
    index === 2 ? { ...message, text: "rm -rf", edited: { user: "UALICE", ts: tsOf(50) } } : message,
  );
  await using world = await createWorld({ initial });
  const { messages, omitted } = await performed(world.platform, read({ until: timeOf(10) }));
  expect(messages.map(({ text }) => text)).toEqual(["message 0", "message 1", "message 3"]);
  expect(omitted).toBe(1);
});

test("the bot's cards are left out; its replies are kept with their answer", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({
    user: "alice",
    channel: "general",
    text: "fix it & see <#C0GENERAL|general>",
  });
  const at = `${general}:${ts}`;
  await performed(world.platform, card(at));
  await performed(
    world.platform,
    reply(at, { view: view({ headline: ["Done"], answer: "Fixed **all**." }) }),
  );
  const until = new Date(Date.now() + 60_000).toISOString();
  const { messages } = await performed(world.platform, read({ at, until }));
  expect(messages).toMatchObject([
    { author: "UALICE", text: "fix it & see #general", bot: false },
    { author: "agent", text: "Done\n\nFixed **all**.", bot: true },
  ]);
});

test("a long rate limit ends the reading early", async () => {
  await using world = await createWorld({ initial: threadOf(530) });
  const count = () => world.slack.calls.filter(({ method }) => method === "conversations.replies").length;
  world.slack.fail({ method: "conversations.replies", with: { retryAfter: 60 } });
  expect(await performed(world.platform, read())).toMatchObject({ messages: [], omitted: 1 });
  expect(count()).toBe(0);
});

test("a long rate limit in the middle counts the unread messages", async () => {
  await using world = await createWorld({ initial: threadOf(530) });
  const reading = performed(world.platform, read());
  // The first page is on its way; the limit meets the second.
  while (!world.slack.calls.some(({ method }) => method === "conversations.replies")) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  world.slack.fail({ method: "conversations.replies", with: { retryAfter: 60 } });
  const { messages, omitted } = await reading;
  expect(messages.length + omitted).toBe(530);
  expect(messages).toHaveLength(100);
  expect(messages.at(-1)?.text).not.toBe("message 529");
});

test("a short rate limit and an internal error of Slack fail the read, to be tried again", async () => {
  await using world = await createWorld({ initial: threadOf(5) });
  world.slack.fail({ method: "conversations.replies", with: { retryAfter: 2 } });
  expect(await faultOf(world.platform, read())).toMatchObject({ limited: true, retryAfterMs: 2_000 });
  world.slack.fail({ method: "conversations.replies", with: { status: 500 } });
  expect(await faultOf(world.platform, read())).toMatchObject({ retryable: true });
});
