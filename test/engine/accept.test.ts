import { expect, test, vi } from "vitest";
import { createDecide } from "#core/decide/decide.ts";
import type { ButtonEvent, ReplyEvent } from "#core/event.ts";
import { createEarlyReplies } from "#engine/accept-early-replies.ts";
import { createTimers } from "#engine/base/timers.ts";
import { rules } from "#test/support/core/story.ts";
import { createHandClock, settle } from "#test/support/engine/hand-clock.ts";
import { command, reply, setUp } from "#test/support/engine/set-up.ts";
import { person } from "#test/support/engine/small-decide.ts";

test("an accepted event is saved, with its effects, before it is acknowledged", async () => {
  const { ask, store, chat } = setUp();
  expect(await ask("chat:a", reply("r1", "chat:a"))).toBe("saved");
  expect(store.get("chat:a").effects).toHaveLength(1);
  expect(chat.tries).toHaveLength(0);
});

test("an event that the decision ignores is not saved", async () => {
  const { engine, small, store } = setUp();
  const event = command("chat:a");
  small.asks.set(event.id, "ignore");
  expect(await engine.accept(event)).toBe("ignored");
  expect(store.size()).toBe(0);
});

test("an event that comes too early must be redelivered", async () => {
  const { engine, small } = setUp();
  const event = command("chat:a");
  small.asks.set(event.id, "again");
  expect(await engine.accept(event)).toBe("again");
});

test("an event that can't be saved is rejected and takes effect when it is delivered again", async () => {
  const { engine, small, store, chat, clock, observed } = setUp();
  await engine.start();
  const event = command("chat:a");
  small.asks.set(event.id, [reply("r1", "chat:a")]);
  store.broken = new Error("no space left");
  await expect(engine.accept(event)).rejects.toThrow("no space left");
  await clock.advance(10_000);
  expect(chat.tries).toHaveLength(0);
  store.broken = null;
  expect(await engine.accept(event)).toBe("saved");
  await clock.advance(0);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1"]);
  expect(observed.flatMap((one) => (one.kind === "accepted" ? [one.answer] : []))).toEqual([
    "failed",
    "saved",
  ]);
});

test("an event delivered twice at once takes effect once", async () => {
  const { engine, small, chat, clock } = setUp();
  await engine.start();
  const event = command("chat:a");
  small.asks.set(event.id, [reply("r1", "chat:a")]);
  expect(await Promise.all([engine.accept(event), engine.accept(event)])).toEqual(["saved", "saved"]);
  await clock.advance(0);
  expect(chat.tries).toHaveLength(1);
});

test("effects of an event that is accepted before the start are performed after it, and are not uncertain", async () => {
  const { engine, ask, chat, clock } = setUp();
  await ask("chat:a", reply("r1", "chat:a"));
  await engine.start();
  await clock.advance(0);
  expect(chat.tries.map(({ id, uncertain }) => [id, uncertain])).toEqual([["r1", false]]);
});

const real = () => setUp({ decide: createDecide(rules) });
const place = "chat:room/1";
const second = (seconds: number): string =>
  new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1_000).toISOString();

/** A message in a place, `at` so many seconds; its number is the end of its id. */
const said = (number: number, at: number, more: Partial<ReplyEvent> = {}): ReplyEvent => ({
  kind: "reply",
  id: `chat:message:${number}`,
  at: second(at),
  by: person,
  scope: "chat:room",
  place,
  text: `message ${number}`,
  message: `${number}`,
  mention: false,
  first: false,
  underOurs: false,
  ...more,
});
const mention = (number: number, at: number): ReplyEvent =>
  said(number, at, { mention: true, text: "fix it" });
const numbers = (ids: readonly string[]): number[] => ids.map((id) => Number(id.split(":").at(-1)));

/** Returns the list of the first lines of the follow-ups that reach the API from now on. */
function followUpsTo(api: ReturnType<typeof real>["api"]): readonly string[] {
  const sent: string[] = [];
  const { followUp } = api;
  api.followUp = (run, request) => {
    sent.push(request.message.split("\n")[0] ?? "");
    return followUp.call(api, run, request);
  };
  return sent;
}

test("replies that overtake their mention wait for it, and are decided in the order of their times", async () => {
  const { engine, store, clock, api } = real();
  const sent = followUpsTo(api);
  await engine.start();
  const overtaking = [said(13, 4), said(11, 2), said(10, 0), said(12, 2)];
  for (const event of overtaking) expect(await engine.accept(event)).toBe("ignored");
  expect(store.size()).toBe(0);
  expect(await engine.accept(mention(1, 1))).toBe("saved");
  await clock.advance(10_000);
  // Message 10 was written before the mention.
  expect(numbers(store.get(place).seen)).toEqual([1, 11, 12, 13]);
  expect(sent).toEqual(
    ["message 11", "message 12", "message 13"].map((text) => expect.stringContaining(text)),
  );
  // Delivered again, they take effect no second time.
  for (const event of overtaking) await engine.accept(event);
  await clock.advance(10_000);
  expect(sent).toHaveLength(3);
});

test("a reply also waits for its request in a thread that has none yet, or is muted", async () => {
  const { engine, store } = real();
  const commands = ["help", "run fix it", "mute", "unmute"];
  const [help, run, mute, unmute] = commands.map((text, at) => said(at, at, { mention: true, text }));
  const give = async (...events: (ReplyEvent | undefined)[]) => {
    for (const event of events) if (event !== undefined) await engine.accept(event);
    await settle();
  };
  await give(help, said(11, 1), run);
  expect(numbers(store.get(place).seen)).toEqual([0, 1, 11]);
  await give(mute, said(12, 2), said(14, 4), unmute);
  expect(numbers(store.get(place).seen)).toEqual([0, 1, 11, 2, 3, 14]);
});

test("a reply that was saved for a run which then could not be attached waits for its request", async () => {
  const { engine, clock, api } = real();
  const sent = followUpsTo(api);
  await engine.start();
  expect(await engine.accept(said(0, 0, { mention: true, text: "attach run-404" }))).toBe("saved");
  expect(await engine.accept(said(11, 2))).toBe("saved");
  await clock.advance(60_000);
  await engine.accept(mention(1, 1));
  await clock.advance(10_000);
  expect(sent).toEqual([expect.stringContaining("message 11")]);
});

test("a comment that overtakes its label waits for it", async () => {
  const { engine, store } = real();
  expect(await engine.accept(said(2, 2))).toBe("ignored");
  const subject = { title: "An issue", body: "", url: "https://example.com/1", author: "ann" };
  const { id: _, kind: __, ...from } = said(1, 1);
  await engine.accept({ ...from, kind: "label", id: "chat:delivery:1", label: "agent", subject });
  await settle();
  expect(numbers(store.get(place).seen)).toEqual([1, 2]);
});

test("a reply that came before its request is saved once the store works again", async () => {
  const { engine, store, clock } = real();
  await engine.accept(said(2, 2));
  const request = engine.accept(mention(1, 1));
  // The request is saved, and the disk is full right after it.
  const breaking = vi.spyOn(store, "change").mockRejectedValue(new Error("no space left"));
  await request;
  await settle();
  expect(numbers(store.get(place).seen)).toEqual([1]);
  breaking.mockRestore();
  await clock.advance(10_000);
  expect(numbers(store.get(place).seen)).toEqual([1, 2]);
});

const elsewhere = (number: number) => ({ place: `chat:place-${number % 5_000}` });

test("chatter is kept for ten minutes at most, and never more than its bounds", async () => {
  const clock = createHandClock();
  const early = createEarlyReplies({ clock, timers: createTimers(clock) });
  for (let number = 0; number < 30_000; number += 1)
    early.keep(said(number, number, elsewhere(number)), null);
  const has = (...numbers: readonly number[]) => numbers.map((number) => early.has(said(number, 0)));
  expect(has(0, 19_999, 20_000, 29_999)).toEqual([false, false, true, true]);
  const long = "x".repeat(40_000);
  for (let number = 30_000; number < 31_000; number += 1)
    early.keep(said(number, number, { ...elsewhere(number), text: long }), null);
  expect(has(30_790, 30_999)).toEqual([false, true]);
  await clock.advance(5 * 60_000);
  early.keep(said(40_000, 0), null);
  await clock.advance(5 * 60_000);
  expect(has(30_999, 40_000)).toEqual([false, true]);
  await clock.advance(5 * 60_000);
  expect([...has(40_000), clock.waiting()]).toEqual([false, 0]);
});

test("messages that no request can make a follow-up are not kept", async () => {
  const { engine, clock } = real();
  await engine.accept(said(1, 1, { first: true }));
  await engine.accept(said(2, 2, { by: { ...person, bot: true } }));
  expect(clock.waiting()).toBe(0);
});

const press = (number: number): ButtonEvent => ({
  kind: "button",
  id: `chat:press:${number}`,
  at: second(number),
  by: person,
  scope: "chat:room",
  place,
  action: "cancel",
  dispatch: "e-slash",
});

/** A bot that posts its cards in `place`, and the function that answers the post. */
async function posting() {
  const made = real();
  const posted = Promise.withResolvers<void>();
  const { answer } = made.chat;
  made.chat.answer = async (effect, attempt) => {
    if (effect.kind !== "card") return answer(effect, attempt);
    await posted.promise;
    return { ok: true, kind: "card", revision: effect.revision, message: "m", place };
  };
  await made.engine.start();
  await made.engine.accept(command(place, { id: "e-slash", place: null, text: "run fix it" }));
  await made.clock.advance(0);
  return { ...made, post: () => posted.resolve() };
}

test("a press and a reply that come before their card's place is saved wait for it", async () => {
  const { engine, store, clock, post } = await posting();
  const underCard = said(7, 7, { underOurs: true });
  const taken = Promise.all([engine.accept(press(5), 2_500), engine.accept(underCard, 2_500)]);
  await clock.advance(1_000);
  post();
  await clock.advance(0);
  expect(await taken).toEqual(["saved", "saved"]);
  expect(numbers(store.get(place).seen.slice(1))).toEqual([5, 7]);
});

test("without patience, or when it is over, the answer is again", async () => {
  const { engine, clock, post } = await posting();
  expect(await engine.accept(press(5))).toBe("again");
  const late = engine.accept(press(5), 2_500);
  await clock.advance(2_500);
  expect(await late).toBe("again");
  post();
  await clock.advance(0);
  expect(await engine.accept(press(5), 2_500)).toBe("saved");
});

test("a stop does not wait for events that wait", async () => {
  const { engine } = await posting();
  const waiting = engine.accept(press(5), 2_500);
  await settle();
  engine.drain();
  expect(await waiting).toBe("again");
  expect(await engine.accept(press(5), 2_500)).toBe("again");
});
