import { expect, test } from "vitest";
import { emptyWorkspace, type SlackMessage } from "#sandbox/slack/workspace.ts";
import { card, createWorld, general, performed, random, type World } from "#test/support/slack/world.ts";

const missed = (world: World, places: readonly string[], sinceMs = 0) =>
  world.platform.missed?.({ since: new Date(sinceMs).toISOString(), places, scopes: [] });
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
  const events = await missed(world, [place]);
  expect(events).toEqual(told);
  expect(events).toHaveLength(4);
});

test("nothing before the given time is returned, not even the thread's first message", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world);
  await say("early");
  const { ts } = await say("late");
  const [, second] = (await missed(world, [place], Number(ts) * 1000)) ?? [];
  expect(second).toBeUndefined();
  expect(await missed(world, [place], Math.floor(Number(ts) * 1000))).toMatchObject([{ message: ts }]);
});

test("replies of several threads are returned in the order in which they were written", async () => {
  await using world = await createWorld();
  const one = await threadOf(world);
  const other = await threadOf(world);
  const since = Date.now();
  for (const text of ["1", "2", "3", "4"]) await (Number(text) % 2 ? one : other).say(text);
  const events = await missed(world, [one.place, other.place], since);
  expect(events?.map((event) => event.kind === "reply" && event.text)).toEqual(["1", "2", "3", "4"]);
});

test("a deleted thread or an invalid place does not affect others", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world);
  const since = Date.now();
  await say("still here");
  const places = [`${general}:1.000001`, `${random}:1.000001`, general, "github:octo/app#1", place];
  expect(await missed(world, places, since)).toMatchObject([{ text: "still here" }]);
});

const startSeconds = 1_700_000_000;
/** Threads by alice, a second apart, each with replies by bob. */
function many(threads: number, answers: number) {
  const messages = Array.from({ length: threads }, (_, index): SlackMessage[] => {
    const ts = `${startSeconds + index}.000100`;
    const replies = Array.from({ length: answers }, (_unused, number) => ({
      ts: `${startSeconds + 10_000 + index * 1_000 + number}.000100`,
      thread_ts: ts,
      user: "UBOB",
      text: `${index}.${number}`,
    }));
    return [{ ts, thread_ts: ts, user: "UALICE", text: "fix it" }, ...replies];
  }).flat();
  const channels = emptyWorkspace.channels.map((channel) => ({ ...channel, messages }));
  const places = Array.from({ length: threads }, (_, index) => `${general}:${startSeconds + index}.000100`);
  return { places, initial: { ...emptyWorkspace, channels } };
}
const sinceMs = (startSeconds + 5_000) * 1000;

test("a long thread is read across all pages", async () => {
  const { places, initial } = many(1, 450);
  await using world = await createWorld({ initial });
  expect(await missed(world, places, sinceMs)).toHaveLength(450);
});

test("a look reads the fifty most recent threads, and the next looks the others", async () => {
  const { places, initial } = many(60, 1);
  await using world = await createWorld({ initial });
  const first = (await missed(world, places, sinceMs)) ?? [];
  expect(reads(world)[0]).toBe(`${startSeconds + 59}.000100`);
  expect(first).toHaveLength(50);
  const laterMs = sinceMs + 20_000_000_000;
  const second = (await missed(world, places, laterMs)) ?? [];
  expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(60);
  expect(reads(world).slice(50, 60)).toEqual(
    places
      .slice(0, 10)
      .toReversed()
      .map((place) => place.split(":")[3]),
  );
});

test("a rate limit ends a look early, is logged once and loses nothing", async () => {
  const { places, initial } = many(3, 2);
  await using world = await createWorld({ initial });
  const told = () => world.lines.filter(({ message }) => message.includes("limits how many"));
  const limit = () => world.slack.fail({ method: "conversations.replies", with: { retryAfter: 60 } });
  limit();
  expect(await missed(world, places, sinceMs)).toEqual([]);
  const laterMs = sinceMs + 20_000_000_000;
  limit();
  expect(await missed(world, places, laterMs)).toEqual([]);
  expect(told()).toHaveLength(1);
  expect(await missed(world, places, laterMs + 1)).toHaveLength(6);
  expect(await missed(world, places, laterMs + 2)).toEqual([]);
});

test("a repeated look returns the same replies, including those that an earlier look had left", async () => {
  const { places, initial } = many(1, 2);
  await using world = await createWorld({ initial });
  world.slack.fail({ method: "conversations.replies", with: { retryAfter: 60 } });
  await missed(world, places, sinceMs);
  const laterMs = sinceMs + 20_000_000_000;
  expect(await missed(world, places, laterMs)).toHaveLength(2);
  expect(await missed(world, places, laterMs)).toHaveLength(2);
  expect(await missed(world, places, laterMs + 1)).toEqual([]);
});

test("an internal error of Slack or a refused token rejects, so that the look is tried again", async () => {
  await using world = await createWorld();
  const { place, say } = await threadOf(world);
  const since = Date.now();
  await say("hello");
  world.slack.fail({ method: "conversations.replies", with: { status: 500 } });
  await expect(missed(world, [place], since)).rejects.toThrow("internal error");
  world.slack.fail({ method: "conversations.replies", with: { error: "token_revoked" } });
  await expect(missed(world, [place], since)).rejects.toThrow("token");
  expect(await missed(world, [place], since)).toHaveLength(1);
});
