import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { emptyWorkspace, type SlackMessage } from "#sandbox/slack/workspace.ts";
import { looking, textsOf } from "#test/support/slack/looking.ts";
import {
  base,
  card,
  createWorld,
  general,
  performed,
  random,
  type World,
} from "#test/support/slack/world.ts";

const reads = (world: World): readonly unknown[] =>
  world.slack.calls.flatMap(({ method, params }) => (method === "conversations.replies" ? [params.ts] : []));

/** A thread by alice that contains a card. */
async function threadOf(world: World, text = "<@UBOT> fix it") {
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text });
  const place = `${general}:${ts}`;
  await performed(world.platform, card(place));
  const say = (words: string, user = "bob") =>
    world.slack.say({ user, channel: "general", thread: ts, text: words });
  return { ts, place, say };
}

test("replies are read back as the same events as their deliveries", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world);
  await say("and the docs, see <https://example.com|here> &amp; there");
  await say("<@UBOT> status");
  await world.slack.say({
    user: "bob",
    channel: "general",
    thread: place.split(":")[3] ?? "",
    text: "a picture",
    subtype: "file_share",
  });
  await world.slack.delivered();
  // A mention is delivered twice.
  const told = world.events.filter(
    (event, index) => world.events.findIndex(({ id }) => id === event.id) === index,
  );
  const events = await looking(world, { places: [place] })();
  expect(events).toEqual(told);
  expect(events).toHaveLength(4);
});

const minute = 60_000;
const day = 24 * 60 * minute;
/** Slack's timestamp of a moment `agoMs` ago; `n` tells moments apart. */
const ago = (agoMs: number, n = 0): string =>
  `${Math.floor((Date.now() - agoMs) / 1000)}.${String(100 + n).padStart(6, "0")}`;

const inChannel = (channel: string, messages: readonly SlackMessage[], from = emptyWorkspace) => ({
  ...from,
  channels: from.channels.map((each) => (each.id === channel ? { ...each, messages: [...messages] } : each)),
});

/** Threads by alice, a second apart and `agoMs` old, each with replies by bob from `repliesAgoMs` ago on. */
function many(threads: number, answers: number, agoMs = 5 * day, repliesAgoMs = 2 * 60 * minute) {
  const places: string[] = [];
  const messages = Array.from({ length: threads }, (_, index): SlackMessage[] => {
    const ts = ago(agoMs - index * 1_000, index);
    places.push(`${general}:${ts}`);
    const replies = Array.from({ length: answers }, (_unused, number) => ({
      ts: ago(repliesAgoMs - number * 100, index * 1_000 + number),
      thread_ts: ts,
      user: "UBOB",
      text: `${index}.${number}`,
    }));
    return [{ ts, thread_ts: ts, user: "UALICE", text: "fix it" }, ...replies];
  }).flat();
  return { places, initial: inChannel("C0GENERAL", messages) };
}

test("only what was said since the last look is returned, with a margin of a quarter of an hour", async () => {
  const ts = ago(day);
  const root = { ts, thread_ts: ts, user: "UALICE", text: "<@UBOT> fix it" };
  const said = (agoMs: number) => ({
    ts: ago(agoMs),
    thread_ts: ts,
    user: "UBOB",
    text: `${agoMs / minute}`,
  });
  const replies = [said(90 * minute), said(30 * minute), said(20 * minute), said(10 * minute)];
  await using world = await createWorld({ initial: inChannel("C0GENERAL", [root, ...replies]) });
  const look = looking(world, { places: [`${general}:${ts}`], since: Date.now() - 18 * minute });
  expect(textsOf(await look())).toEqual(["30", "20", "10"]);
});

test("replies of several threads are returned in the order in which they were written", async () => {
  await using world = await createWorld();
  const one = await threadOf(world, "fix it");
  const other = await threadOf(world, "fix it");
  for (const text of ["1", "2", "3", "4"]) await (Number(text) % 2 ? one : other).say(text);
  const look = looking(world, { places: [one.place, other.place] });
  expect(textsOf(await look()).filter((text) => text !== "fix it")).toEqual(["1", "2", "3", "4"]);
});

test("a deleted thread or an invalid place does not affect others", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world, "fix it");
  await say("still here");
  const places = [`${general}:1.000001`, `${random}:1.000001`, general, "github:octo/app#1", place];
  expect(textsOf(await looking(world, { places })())).toContain("still here");
});

test("a mention in a channel, a direct message and a reply with a mention are read back where nothing is known", async () => {
  const direct = { id: "D0ALICE", name: "D0ALICE", kind: "im" as const, members: ["UALICE", "UBOT"] };
  const discussion = ago(3 * 60 * minute);
  const talk: SlackMessage[] = [
    { ts: discussion, thread_ts: discussion, user: "UALICE", text: "the build is slow" },
    { ts: ago(40 * minute, 1), thread_ts: discussion, user: "UBOB", text: "no idea" },
    { ts: ago(30 * minute, 2), user: "UALICE", text: "<@UBOT> fix the docs" },
    { ts: ago(25 * minute, 3), thread_ts: discussion, user: "UBOB", text: "<@UBOT> make it faster" },
    { ts: ago(24 * minute, 4), thread_ts: discussion, user: "UBOB", text: "mind the cache" },
    { ts: ago(20 * minute, 5), user: "UBOB", text: "lunch?" },
  ];
  const base = inChannel("C0GENERAL", talk);
  const messages = [{ ts: ago(22 * minute, 6), user: "UALICE", text: "what is running?" }];
  const initial = { ...base, channels: [...base.channels, { ...direct, messages }] };
  await using world = await createWorld({ initial });
  const look = looking(world, { since: Date.now() - 70 * minute });
  const events = await look();
  expect(textsOf(events)).toEqual(["fix the docs", "make it faster", "mind the cache", "what is running?"]);
  expect(events.map((event) => event.kind === "reply" && event.mention)).toEqual([true, true, false, true]);
});

test("what was said before the bot came to a channel was not said to it", async () => {
  await using world = await createWorld();
  await world.slack.say({ user: "alice", channel: "random", text: "<@UBOT> are you there?" });
  await world.slack.invite({ user: "alice", channel: "random" });
  await world.slack.say({ user: "alice", channel: "random", text: "<@UBOT> now?" });
  expect(textsOf(await looking(world)())).toEqual(["now?"]);
});

test("in a channel without another company, people of the organization's other workspaces are members", async () => {
  const said = (n: number) => ({
    ts: ago(minute, n),
    user: "UALICE",
    team: "T0OTHER",
    text: "<@UBOT> fix it",
  });
  const [own, other] = emptyWorkspace.channels;
  if (own === undefined || other === undefined) throw new Error("channels are missing");
  const channels = [
    { ...own, messages: [said(1)] },
    { ...other, members: own.members, shared: true, messages: [said(2)] },
  ];
  await using world = await createWorld({ initial: { ...emptyWorkspace, channels } });
  const events = await looking(world)();
  expect(events.map(({ scope, by }) => [scope, by.permission])).toEqual([
    [general, undefined],
    [random, "none"],
  ]);
});

test("what was said before the bot left a channel and was invited again is read back", async () => {
  const messages: SlackMessage[] = [
    { ts: ago(60 * minute), user: "UALICE", text: "<@UBOT> are you there?" },
    { ts: ago(50 * minute, 1), user: "UBOT", subtype: "channel_join", text: "joined" },
    { ts: ago(40 * minute, 2), user: "UALICE", text: "<@UBOT> fix it" },
    { ts: ago(30 * minute, 3), user: "UBOT", subtype: "channel_leave", text: "left" },
    { ts: ago(20 * minute, 4), user: "UALICE", text: "<@UBOT> where are you?" },
    { ts: ago(10 * minute, 5), user: "UBOT", subtype: "channel_join", text: "joined" },
    { ts: ago(5 * minute, 6), user: "UALICE", text: "<@UBOT> and the docs" },
  ];
  await using world = await createWorld({ initial: inChannel("C0GENERAL", messages) });
  expect(textsOf(await looking(world)())).toEqual(["fix it", "and the docs"]);
});

test("a twin of a card that stayed does not keep its thread's replies coming", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  const { message, place } = await performed(world.platform, card(general));
  await world.slack.say({ user: "bob", channel: "general", thread: message, text: "<@UBOT> and the docs" });
  const before = await looking(world)();
  expect(before).toMatchObject([{ place, underOurs: true }]);
  const twins = { ...base(general), kind: "twin-posts" as const, at: general, of: "e-card", looks: 0 };
  await performed<"twin-posts">(world.platform, {
    ...twins,
    postedSince: new Date().toISOString(),
    message: ts,
  });
  expect(await looking(world)()).toMatchObject([{ place, underOurs: false }]);
});

for (const skew of [6, -6]) {
  test(`nothing is lost if Slack's clock is off by ${skew} minutes and its lists are late`, async () => {
    await using world = await createWorld({ conditions: { skewMs: skew * minute, lagMs: 150 } });
    const look = looking(world, { since: Date.now() });
    await look();
    await world.slack.say({ user: "alice", channel: "general", text: "<@UBOT> fix it" });
    await look();
    await delay(200);
    expect(textsOf(await look.later())).toEqual(["fix it"]);
  });
}

test("a long thread is read across all pages", async () => {
  const { places, initial } = many(1, 450);
  await using world = await createWorld({ initial });
  expect(await looking(world, { places })()).toHaveLength(451);
});

test("a search reads forty pages, the next ones the rest, and the newest threads come first", async () => {
  const { places, initial } = many(60, 1);
  await using world = await createWorld({ initial });
  const look = looking(world, { places, since: Date.now() - 3 * 60 * minute });
  const first = await look();
  expect(reads(world)[0]).toBe(places.at(-1)?.split(":")[3]);
  expect(first).toHaveLength(40);
  expect(look.moreInMs()).toBe(minute);
  const second = await look();
  expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(60);
  expect(look.moreInMs()).toBeUndefined();
});

test("threads whose runs have ended cost no request each where their channel's list shows that nothing is new", async () => {
  const { places, initial } = many(150, 1, 50 * minute, 40 * minute);
  await using world = await createWorld({ initial });
  const look = looking(world, { lively: places, since: Date.now() - 5 * minute });
  expect(await look()).toEqual([]);
  expect(reads(world)).toEqual([]);
  const place = places[70] ?? "";
  await world.slack.say({
    user: "bob",
    channel: "general",
    thread: place.split(":")[3] ?? "",
    text: "one more",
  });
  expect(textsOf(await look.later())).toEqual(["one more"]);
  expect(reads(world)).toEqual([place.split(":")[3]]);
});

test("busy threads, which every round reads again, keep no other thread from being read", async () => {
  const { places, initial } = many(150, 1, 20 * minute, 10 * minute);
  await using world = await createWorld({ initial });
  const look = looking(world, { lively: places, since: Date.now() - 3 * 60 * minute });
  for (let rounds = 0; rounds < 5; rounds += 1) await look.later();
  expect(new Set(reads(world)).size).toBe(150);
});

test("a reply in an old thread whose run has ended is read back", async () => {
  const { places, initial } = many(3, 1, 6 * day, 30 * minute);
  await using world = await createWorld({ initial });
  expect(textsOf(await looking(world, { lively: places, since: Date.now() - 20 * minute })())).toEqual([
    "0.0",
    "1.0",
    "2.0",
  ]);
});

test("a rate limit ends a search early, is logged once and loses nothing, even after a restart", async () => {
  const { places, initial } = many(3, 2);
  await using world = await createWorld({ initial });
  const told = () => world.lines.filter(({ message }) => message.includes("limits how much"));
  const limit = () => world.slack.fail({ method: "conversations.replies", with: { retryAfter: 1 } });
  const look = looking(world, { places, since: Date.now() - 3 * 60 * minute });
  limit();
  expect(await look()).toEqual([]);
  expect(look.moreInMs()).toBeGreaterThan(0);
  expect(await look()).toEqual([]);
  expect(told()).toHaveLength(1);
  await using other = await createWorld({ initial: world.slack.snapshot() });
  expect(await looking(other, { places, kept: look.kept(), since: Date.now() })()).toHaveLength(6);
});

test("an app outside Slack's Marketplace reads everything, a page of 15 messages at a time", async () => {
  const { places, initial } = many(4, 20);
  await using world = await createWorld({
    initial,
    conditions: { reading: { most: 15, everyMs: 50 } },
    elapsed: () => performance.now() * 50,
  });
  const look = looking(world, { places, since: Date.now() - 3 * 60 * minute });
  const found = new Set<string>();
  for (let n = 0; n < 60 && (n === 0 || look.moreInMs() !== undefined); n += 1) {
    for (const { id } of await look()) found.add(id);
    await delay(70);
    if (found.size === 80) break;
  }
  expect(found.size).toBe(80);
});

test("after a limit the search leaves the allowance to requests for a time", async () => {
  const { places, initial } = many(1, 1);
  await using world = await createWorld({ initial });
  world.slack.fail({ method: "conversations.replies", with: { retryAfter: 60 } });
  const look = looking(world, { places, since: Date.now() - 3 * 60 * minute });
  await look();
  expect(look.moreInMs()).toBeGreaterThan(2 * minute);
});

test("channels are read every few minutes, and quiet threads in turn", async () => {
  const { places, initial } = many(100, 1);
  const [general] = initial.channels;
  const messages = Array.from({ length: 20 }, (_, n) => ({
    ts: ago(60 * minute, n),
    user: "UBOB",
    text: "hi",
  }));
  const channels = [
    {
      ...(general ?? { id: "", name: "", kind: "channel" as const, members: [] }),
      messages: [...(general?.messages ?? []), ...messages],
    },
  ];
  let aheadMs = 0;
  await using world = await createWorld({
    initial: { ...initial, channels },
    conditions: { reading: { most: 15, everyMs: 0 } },
    elapsed: () => performance.now() + aheadMs,
  });
  const look = looking(world, { lively: places, since: Date.now() - 5 * minute });
  // After an absence all threads are read soon.
  for (let n = 0; n < 10 && (n === 0 || look.moreInMs() !== undefined); n += 1) await look();
  expect(new Set(reads(world)).size).toBe(100);
  await world.slack.say({ user: "alice", channel: "general", text: "<@UBOT> fix it" });
  const old = places[0]?.split(":")[3] ?? "";
  await world.slack.say({ user: "bob", channel: "general", thread: old, text: "and the docs" });
  const found: (readonly string[])[] = [];
  for (let rounds = 0; rounds < 3; rounds += 1) {
    aheadMs += 5 * minute;
    found.push(textsOf(await look()));
    expect(look.moreInMs()).toBeUndefined();
  }
  expect(found[0]).toContain("fix it");
  expect(found.flat()).toContain("and the docs");
  expect(reads(world).length).toBeLessThan(100 + 3 * 50);
});

test("a repeated search whose events were not saved returns the same events", async () => {
  const { places, initial } = many(2, 2);
  await using world = await createWorld({ initial });
  const look = looking(world, { places, since: Date.now() - 3 * 60 * minute });
  look.keeps = false;
  expect(await look()).toHaveLength(4);
  expect(await look()).toHaveLength(4);
});

test("a mention that came before its thread was saved is read again, alone, and holds up nothing else", async () => {
  await using world = await createWorld();
  const { message, place } = await performed(world.platform, card(general));
  await world.slack.say({ user: "bob", channel: "general", thread: message, text: "<@UBOT> and the docs" });
  await world.slack.say({ user: "alice", channel: "general", text: "<@UBOT> fix it" });
  const look = looking(world, { since: Date.now() });
  const events = await look();
  expect(textsOf(events)).toEqual(["and the docs", "fix it"]);
  look.early(events.slice(0, 1));
  expect(JSON.parse(look.kept() ?? "")).toMatchObject({ unread: [[place, {}]] });
  expect(textsOf(await look.later())).toContain("and the docs");
});

test("missing scopes are told once, and everything else is read", async () => {
  const { places, initial } = many(1, 1, 50 * minute, 40 * minute);
  await using world = await createWorld({ initial });
  await world.slack.say({ user: "alice", channel: "general", text: "<@UBOT> fix it" });
  const look = looking(world, { places, scopes: [general, random] });
  world.slack.fail({ method: "users.conversations", times: 20, with: { error: "missing_scope" } });
  expect(textsOf(await look())).toEqual(["fix it", "0.0", "fix it"]);
  const told = world.lines.filter(
    ({ level, message }) => level === "warn" && message.includes("does not list all channels"),
  );
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).toContain("im:read");
  world.slack.fail({ method: "conversations.history", with: { error: "missing_scope" } });
  const thread = places[0]?.split(":")[3] ?? "";
  await world.slack.say({ user: "bob", channel: "general", thread, text: "and more" });
  expect(textsOf(await look.later())).toEqual(["and more"]);
  expect(world.lines.filter(({ message }) => message.includes("can't be read back everywhere"))).toHaveLength(
    1,
  );
});

test("a gap that is too long is told", async () => {
  await using world = await createWorld();
  await looking(world, { since: Date.now() - 9 * day })();
  expect(world.lines.filter(({ message }) => message.includes("more than seven days ago"))).toHaveLength(1);
});

test("an internal error of Slack or a refused token rejects, so that the search is tried again", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world);
  await say("hello");
  const look = looking(world, { places: [place] });
  for (const method of ["conversations.replies", "conversations.history"]) {
    world.slack.fail({ method, with: { status: 500 } });
  }
  await expect(look()).rejects.toThrow("internal error");
  for (const method of ["conversations.replies", "conversations.history"]) {
    world.slack.fail({ method, with: { error: "token_revoked" } });
  }
  await expect(look()).rejects.toThrow("token");
  expect(await look()).toHaveLength(2);
});

test("a channel that can't be read for now does not hold up the others", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world);
  await say("hello");
  await world.slack.invite({ user: "alice", channel: "random" });
  await world.slack.say({ user: "alice", channel: "random", text: "<@UBOT> fix it" });
  world.slack.fail({ method: "conversations.replies", with: { status: 500 } });
  const look = looking(world, { places: [place] });
  const found = textsOf(await look());
  expect(found.filter((text) => text === "fix it")).toHaveLength(2);
  world.slack.fail({ method: "conversations.replies", times: 2, with: { status: 500 } });
  await world.slack.say({ user: "alice", channel: "random", text: "<@UBOT> and this" });
  // The rest of the round, and a new one.
  expect(textsOf(await look.later())).toEqual([]);
  expect(textsOf(await look())).toContain("and this");
  expect(textsOf(await look.later())).toContain("hello");
});
