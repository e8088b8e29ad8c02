/** Posts happen once in a Slack that lags, whose clock is off, and whose connections break. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CardEffect, ReplyEffect, TwinPostsEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { emptyWorkspace, type SlackMessage } from "#sandbox/slack/workspace.ts";
import {
  base,
  card,
  createWorld,
  faultOf,
  general,
  messagesIn,
  performed,
  reply,
  unsure,
  type World,
} from "#test/support/slack/world.ts";

const minute = 60_000;

/** Performs the effect as the engine does: again and again, searching first once the outcome was unknown. */
async function insist(world: World, effect: CardEffect | ReplyEffect, settlingMs: number): Promise<Outcome> {
  let doubtAt: number | null = null;
  for (let tries = 0; tries < 200; tries += 1) {
    const settlesInMs = doubtAt === null ? 0 : Math.max(doubtAt + settlingMs - performance.now(), 0);
    const attempt = { uncertain: doubtAt !== null, settlesInMs };
    const outcome = await world.platform.perform({ ...effect, tries }, attempt);
    if (outcome.ok) return outcome;
    const { certainty, searching, retryable } = outcome.fault;
    if (!retryable) throw new Error(outcome.fault.reason);
    if (certainty === "unknown" && !searching) doubtAt = performance.now();
    await delay(25);
  }
  throw new Error("the effect was never performed");
}

const ours = (messages: readonly SlackMessage[]) => messages.filter(({ user }) => user === "UBOT");
const watch = (
  more: Partial<TwinPostsEffect> & Pick<TwinPostsEffect, "at" | "of" | "message">,
): TwinPostsEffect => ({
  ...base(more.at, `${more.of}:twin-posts`),
  kind: "twin-posts",
  postedSince: new Date().toISOString(),
  looks: 0,
  ...more,
});

const cuts = [{ reset: "after" }, { hang: "after" }, { lateMs: 400 }] as const;

test.for([0, 3, 6, -3, -6].flatMap((skew) => cuts.map((cut) => [skew, cut] as const)))(
  "a post that was made without an answer in time is not repeated, with late lists and a clock off by %i minutes (%j)",
  async ([skew, cut]) => {
    await using world = await createWorld({
      timeoutMs: 100,
      conditions: { skewMs: skew * minute, lagMs: 200 },
    });
    world.slack.fail({ method: "chat.postMessage", with: cut });
    const posted = await insist(world, card(general), 600);
    if (!posted.ok || posted.kind !== "card") throw new Error("no card");
    for (const id of ["r1", "r2", "r3"]) {
      world.slack.fail({ method: "chat.postMessage", with: cut });
      await insist(world, reply(posted.place, { id }), 600);
    }
    expect(ours(messagesIn(world.slack))).toHaveLength(4);
  },
);

test("a post that never happened is made after the settling time", async () => {
  await using world = await createWorld({ conditions: { lagMs: 100 } });
  world.slack.fail({ method: "chat.postMessage", with: { reset: "before" } });
  const began = performance.now();
  await insist(world, card(general), 400);
  expect(performance.now() - began).toBeGreaterThan(400);
  expect(ours(messagesIn(world.slack))).toHaveLength(1);
});

test("while a post may still appear the fault says so and is no new doubt", async () => {
  await using world = await createWorld();
  const fault = await faultOf(world.platform, card(general), { uncertain: true, settlesInMs: 5_000 });
  expect(fault).toMatchObject({ certainty: "unknown", retryable: true, searching: true });
  expect(messagesIn(world.slack)).toEqual([]);
});

test("a post is found although this machine's clock was set since its decision", async () => {
  for (const wrongMs of [-3 * 3_600_000, 26 * 3_600_000]) {
    await using world = await createWorld();
    const effect = card(general);
    const { message } = await performed(world.platform, effect);
    const since = new Date(Date.now() + wrongMs).toISOString();
    const found = await performed(world.platform, { ...effect, since }, { uncertain: true, settlesInMs: 0 });
    expect(found.message).toBe(message);
  }
});

test("a search goes on where a rate limit stopped it", async () => {
  await using world = await createWorld();
  const { place } = await performed(world.platform, card(general));
  for (let n = 0; n < 30; n += 1) {
    await world.slack.say({
      user: "alice",
      channel: "general",
      thread: place.split(":")[3] ?? "",
      text: `${n}`,
    });
  }
  const { message } = await performed(world.platform, reply(place));
  // As for an app outside Slack's Marketplace.
  world.slack.conditions.reading = { most: 15, everyMs: 200 };
  const pages: Outcome[] = [];
  while (pages.at(-1)?.ok !== true) {
    pages.push(await world.platform.perform(reply(place), { uncertain: true, settlesInMs: 0 }));
    await delay(210);
  }
  expect(pages.at(-1)).toMatchObject({ message });
  expect(pages.length).toBeLessThan(6);
  for (const page of pages.slice(0, -1)) {
    expect(page).toMatchObject({ ok: false, fault: { searching: true, certainty: "unknown" } });
  }
  expect(ours(messagesIn(world.slack))).toHaveLength(2);
});

/** Says something in the channel as often, which hides earlier messages behind as many pages. */
async function chatter(world: World, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await world.slack.say({ user: "alice", channel: "general", text: `${n}` });
  }
  world.slack.conditions.reading = { most: 1, everyMs: 0 };
}

test("a post behind more pages than one try reads is found by the next try, and not repeated", async () => {
  await using world = await createWorld();
  const { message } = await performed(world.platform, card(general));
  await chatter(world, 55);
  expect(await faultOf(world.platform, card(general), unsure)).toMatchObject({ searching: true });
  expect(await performed(world.platform, card(general), unsure)).toMatchObject({ message });
  expect(ours(messagesIn(world.slack))).toHaveLength(1);
});

test("a post that never happened is made once all pages since its decision are read", async () => {
  await using world = await createWorld();
  await chatter(world, 55);
  expect(await faultOf(world.platform, card(general), unsure)).toMatchObject({ searching: true });
  await performed(world.platform, card(general), unsure);
  expect(ours(messagesIn(world.slack))).toHaveLength(1);
});

test("a message that can't be read does not hide others from searches or from the context", async () => {
  const ts = `${Math.floor(Date.now() / 1000)}.000100`;
  const said = { thread_ts: ts, user: "UALICE" };
  const messages: SlackMessage[] = [
    { ...said, ts, text: "fix it" },
    { ...said, ts: ts.replace("100", "200"), text: "odd", blocks: ["no block"] },
  ];
  const channels = emptyWorkspace.channels.map((each) => ({ ...each, messages }));
  await using world = await createWorld({ initial: { ...emptyWorkspace, channels } });
  const at = `${general}:${ts}`;
  const { message } = await performed(world.platform, reply(at));
  expect(await performed(world.platform, reply(at), unsure)).toMatchObject({ message });
  const until = new Date(Date.now() + minute).toISOString();
  const read = { ...base(at), kind: "read" as const, at, until, dispatch: "d" };
  const context = await performed<"read">(world.platform, read);
  expect(context.messages.map(({ text }) => text)).toEqual(["fix it", "Done"]);
});

test("a twin that appears later is deleted, the known message stays, and the log says so", async () => {
  await using world = await createWorld({ conditions: { skewMs: 6 * minute } });
  const first = await performed(world.platform, card(general));
  const second = await performed(world.platform, card(general));
  const answers = [
    await performed(world.platform, reply(second.place)),
    await performed(world.platform, reply(second.place)),
  ];
  const cards = watch({ at: general, of: "e-card", message: second.message });
  expect(await performed(world.platform, cards)).toMatchObject({ ended: [first.message] });
  const replies = watch({ at: second.place, of: "e-reply", message: answers[0]?.message ?? "" });
  expect(await performed(world.platform, replies)).toMatchObject({ ended: [answers[1]?.message] });
  expect(messagesIn(world.slack).map(({ ts }) => ts)).toEqual([second.message, answers[0]?.message]);
  expect(await performed(world.platform, replies)).toMatchObject({ ended: [] });
  expect(world.lines.filter(({ message }) => message.includes("posted twice"))).toHaveLength(2);
});

test("a twin that somebody else deletes meanwhile is no failure", async () => {
  await using world = await createWorld();
  await performed(world.platform, card(general));
  const { message } = await performed(world.platform, card(general));
  world.slack.fail({ method: "chat.delete", with: { error: "message_not_found" } });
  expect(await performed(world.platform, watch({ at: general, of: "e-card", message }))).toMatchObject({
    ended: [],
  });
});

test("a twin with replies of people stays, without buttons, and says that it is not followed", async () => {
  await using world = await createWorld();
  const twin = await performed(world.platform, card(general));
  const { message } = await performed(world.platform, card(general));
  await world.slack.say({ user: "bob", channel: "general", thread: twin.message, text: "nice" });
  const look = watch({ at: general, of: "e-card", message });
  expect(await performed(world.platform, look)).toMatchObject({ ended: [twin.message] });
  const left = messagesIn(world.slack).find(({ ts }) => ts === twin.message);
  expect(left?.text).toContain("not followed");
  expect(left?.blocks ?? []).toEqual([]);
  expect(messagesIn(world.slack)).toHaveLength(3);
  expect(await performed(world.platform, look)).toMatchObject({ ended: [] });
});

test("posts are spaced a second a channel, edits apart, and reads not at all", async () => {
  await using world = await createWorld();
  const paces = (effect: Parameters<NonNullable<typeof world.platform.paces>>[0]) =>
    world.platform.paces?.(effect);
  const [post] = paces(card(general)) ?? [];
  expect(post).toMatchObject({ count: 1, perMs: 1_000 });
  const place = `${general}:1.000001`;
  expect(paces(reply(place))).toEqual([post]);
  expect(paces(reply("slack:T0SANDBOX:C0RANDOM:1.000001"))?.[0]?.key).not.toBe(post?.key);
  expect(paces(card(place, { message: "1.000001" }))?.[0]?.key).not.toBe(post?.key);
  const read = {
    ...base(place),
    kind: "read" as const,
    at: place,
    until: new Date().toISOString(),
    dispatch: "d",
  };
  expect(paces(read)).toEqual([]);
});

test("a thread that the lists do not show yet is not taken for a deleted one", async () => {
  await using world = await createWorld();
  const posted = await insist(world, card(general), 0);
  if (!posted.ok || posted.kind !== "card") throw new Error("no card");
  world.slack.fail({ method: "chat.postMessage", with: { reset: "after" } });
  world.slack.fail({ method: "conversations.replies", times: 3, with: { error: "thread_not_found" } });
  await insist(world, reply(posted.place), 400);
  expect(ours(messagesIn(world.slack))).toHaveLength(2);
});
