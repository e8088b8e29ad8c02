import { expect, test } from "vitest";
import type { PlatformEffect } from "#core/effect.ts";
import type { Pace } from "#ports.ts";
import { card, reply, type SetUp, setUp } from "#test/support/engine/set-up.ts";
import { newThread } from "#test/support/engine/small-decide.ts";
import { success } from "#test/support/engine/stand-in-platform.ts";

/** The room of a place such as `chat:room/1`. */
const roomOf = ({ at }: PlatformEffect): string => at.split("/")[0] ?? at;
const oneASecond = (effect: PlatformEffect): readonly Pace[] => [
  { key: roomOf(effect), count: 1, perMs: 1_000 },
];

/** Sets up a platform with the paces, and notes when each of its effects began, in seconds. */
function paced(paces: (effect: PlatformEffect) => readonly Pace[], limits = {}) {
  const made = setUp({ limits });
  const began: { readonly id: string; readonly room: string; readonly seconds: number }[] = [];
  made.chat.paces = paces;
  made.chat.answer = (effect) => {
    began.push({ id: effect.id, room: roomOf(effect), seconds: made.clock.elapsed() / 1_000 });
    return success(effect);
  };
  return { ...made, began };
}

const ask = (made: SetUp, count: number, room: string, beginning = 0) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => {
      const place = `chat:${room}/${beginning + index}`;
      return made.ask(place, reply(`${room}-${beginning + index}`, place));
    }),
  );

test("at most so many effects of a key begin within its time, in the order of their asking", async () => {
  const made = paced((effect) => [{ key: roomOf(effect), count: 3, perMs: 10_000 }]);
  await made.engine.start();
  await ask(made, 8, "a");
  await ask(made, 2, "b");
  await made.clock.advance(60_000);
  const ofA = made.began.filter(({ room }) => room === "chat:a");
  expect(ofA.map(({ seconds }) => seconds)).toEqual([0, 0, 0, 10, 10, 10, 20, 20]);
  expect(ofA.map(({ id }) => id)).toEqual(Array.from({ length: 8 }, (_, index) => `a-${index}`));
  expect(made.began.filter(({ room }) => room === "chat:b").map(({ seconds }) => seconds)).toEqual([0, 0]);
});

test("twenty commands in one channel take twenty seconds and a refusal never comes", async () => {
  const made = paced(oneASecond);
  await made.engine.start();
  await ask(made, 20, "a");
  await made.clock.advance(19_000);
  expect(made.began.map(({ seconds }) => seconds)).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test("effects of several kinds share a pace, and the longest waiting goes first", async () => {
  const made = paced(oneASecond);
  await made.engine.start();
  await ask(made, 2, "a");
  await made.ask("chat:a/c", card("c1", "chat:a/c", 1));
  await ask(made, 2, "a", 2);
  await made.clock.advance(10_000);
  expect(made.began.map(({ id }) => id)).toEqual(["a-0", "a-1", "c1", "a-2", "a-3"]);
  expect(made.began.map(({ seconds }) => seconds)).toEqual([0, 1, 2, 3, 4]);
});

test("all the paces of an effect are kept", async () => {
  const made = paced((effect) => [...oneASecond(effect), { key: "all", count: 2, perMs: 5_000 }]);
  await made.engine.start();
  for (const room of ["a", "b", "c"]) await ask(made, 2, room);
  await made.clock.advance(60_000);
  const seconds = made.began.map((one) => one.seconds);
  expect(seconds).toHaveLength(6);
  for (const [index, second] of seconds.entries()) {
    expect((seconds[index + 2] ?? Number.POSITIVE_INFINITY) - second).toBeGreaterThanOrEqual(5);
  }
  expect(seconds.at(-1)).toBeLessThanOrEqual(11);
});

test("what waits for its pace takes no slot, and a thread with much to say keeps none waiting", async () => {
  const made = paced(oneASecond, { perSystem: 2 });
  await made.engine.start();
  const many = Array.from({ length: 30 }, (_, index) => reply(`m${index}`, `chat:a/many`));
  await made.ask("chat:a/many", ...many);
  await ask(made, 30, "b");
  await ask(made, 1, "a", 1);
  await ask(made, 1, "c");
  await made.clock.advance(3_000);
  const secondOf = (id: string) => made.began.find((one) => one.id === id)?.seconds;
  expect(secondOf("c-0")).toBe(0);
  // The second message of the other thread was asked for earlier, the third was not.
  expect(secondOf("a-1")).toBe(2);
});

test("ten thousand waiting effects cost little", async () => {
  const made = paced((effect) => [...oneASecond(effect), { key: "all", count: 80, perMs: 60_000 }]);
  for (let n = 0; n < 10_000; n += 1) {
    const place = `chat:${n % 100}/${n}`;
    made.store.put(newThread(place, { effects: [reply(`r${n}`, place)] }));
  }
  const before = process.cpuUsage();
  await made.engine.start();
  await made.clock.advance(10 * 60_000);
  const { user, system } = process.cpuUsage(before);
  expect(made.began).toHaveLength(11 * 80);
  expect((user + system) / 1_000).toBeLessThan(10_000);
});
