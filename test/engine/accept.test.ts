import { expect, test } from "vitest";
import { command, reply, setUp } from "#test/support/engine/set-up.ts";

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
