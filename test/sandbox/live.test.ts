import { once } from "node:events";
import { createConnection } from "node:net";
import { expect, test } from "vitest";
import type { PageMessage } from "#sandbox/shown/page-state.ts";
import { plainOf } from "#sandbox/shown/rich-text.ts";
import { card, general, openSandbox } from "#test/support/sandbox/opened-sandbox.ts";
import { seePage } from "#test/support/sandbox/seen-page.ts";

const headline = ({ blocks: [first] }: PageMessage): string =>
  first?.kind === "rich" ? plainOf(first.content) : "";

test("the page starts with both prepared halves", async () => {
  const { url } = await openSandbox();
  const { slack, github } = await (await seePage(url)).until(() => true);
  expect(slack.people).toEqual(["alice", "bob"]);
  expect(slack.channels.map(({ name, hasBot }) => [name, hasBot])).toEqual([
    ["general", true],
    ["random", false],
  ]);
  expect(github.people.map(({ login, mayLabel }) => [login, mayLabel])).toEqual([
    ["alice", true],
    ["bob", true],
    ["mallory", false],
  ]);
  expect(github.issues).toMatchObject([{ number: 1, title: "The login test is flaky", author: "bob" }]);
});

test("a card that the bot posts and edits changes on the page", async () => {
  const opened = await openSandbox();
  const page = await seePage(opened.url);
  const { ts } = await opened.slack("chat.postMessage", card(":hourglass_flowing_sand: *Queued*"));
  const now = (words: string) =>
    page.until(({ slack }) => slack.channels[0]?.messages.some((one) => headline(one) === words) ?? false);
  await now("⏳ Queued");
  await opened.slack("chat.update", { ...card(":white_check_mark: *Succeeded*"), ts });
  const { slack } = await now("✅ Succeeded");
  const shown = slack.channels[0]?.messages.find((one) => one.ts === ts);
  expect(shown).toMatchObject({ author: "agent", bot: true, edited: true, onlyFor: null });
  expect(shown?.blocks[1]).toMatchObject({
    kind: "buttons",
    buttons: [{ actionId: "cancel", label: "Cancel" }],
  });
});

test("replies and reactions appear with their message, and a private message names its reader", async () => {
  const opened = await openSandbox();
  const page = await seePage(opened.url);
  const { ts } = await opened.slack("chat.postMessage", card("*Queued*"));
  await opened.act("slack/say", { user: "bob", channel: general, text: "go on", thread: ts });
  const under = ({ slack }: Awaited<ReturnType<typeof page.until>>) =>
    slack.channels[0]?.messages.find((one) => one.ts === ts)?.replies ?? [];
  const [reply] = under(await page.until((seen) => under(seen).length === 1));
  await opened.slack("reactions.add", { channel: general, name: "eyes", timestamp: reply?.ts });
  await opened.slack("chat.postEphemeral", { channel: general, user: "UBOB", text: "psst", thread_ts: ts });
  const seen = await page.until((now) => under(now).length === 2 && under(now)[0]?.reactions.length === 1);
  expect(under(seen)[0]).toMatchObject({ author: "bob", reactions: [{ emoji: "👀", by: ["agent"] }] });
  expect(under(seen)[1]).toMatchObject({ bot: true, onlyFor: "bob" });
});

test("a comment of the bot appears without its hidden marker, and so does its edit", async () => {
  const opened = await openSandbox();
  const page = await seePage(opened.url);
  const body = "<!-- agent-runs-bot e1 -->\n⚙️ **In progress**";
  const posted = await opened.github("POST", "/repos/octo/app/issues/1/comments", { body });
  const { id } = await posted.json();
  const comments = ({ github }: Awaited<ReturnType<typeof page.until>>) => github.issues[0]?.comments ?? [];
  const [first] = comments(await page.until((seen) => comments(seen).length === 1));
  expect(first).toMatchObject({ author: "agent-runs-bot", bot: true });
  expect(plainOf(first?.body ?? [])).toBe("⚙️ In progress");
  await opened.github("PATCH", `/repos/octo/app/issues/comments/${id}`, { body: "✅ **Succeeded**" });
  await page.until((seen) => plainOf(comments(seen)[0]?.body ?? []) === "✅ Succeeded");
});

test("many changes at once are sent in few events", async () => {
  const opened = await openSandbox();
  const page = await seePage(opened.url);
  await page.until(() => true);
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => opened.slack("chat.postMessage", card(`card ${index}`))),
  );
  await page.until(({ slack }) => slack.channels[0]?.messages.length === 31);
  expect(page.events.length).toBeLessThan(30);
});

test("a client that stops reading, and then disconnects, delays no other client", async () => {
  const opened = await openSandbox();
  const socket = createConnection(Number(new URL(opened.url).port), "127.0.0.1");
  socket.write("GET /sandbox/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await once(socket, "data");
  socket.pause();
  const page = await seePage(opened.url);
  const body = "x".repeat(39_000);
  for (let index = 1; index <= 5; index += 1) {
    await opened.act("github/comment", { user: "alice", issue: 1, body });
    await page.until(({ github }) => github.issues[0]?.comments.length === index);
  }
  socket.destroy();
  await opened.act("github/comment", { user: "alice", issue: 1, body: "still here" });
  await page.until(({ github }) => github.issues[0]?.comments.length === 6);
});

test("all clients see the same state", async () => {
  const opened = await openSandbox();
  const pages = [await seePage(opened.url), await seePage(opened.url)];
  await opened.act("github/comment", { user: "alice", issue: 1, body: "Hello" });
  for (const page of pages) await page.until(({ github }) => github.issues[0]?.comments.length === 1);
});

test("stopping ends the streams, so that the server can stop", async () => {
  const opened = await openSandbox();
  const page = await seePage(opened.url);
  await page.until(() => true);
  await opened.stop();
  await page.ended;
});
