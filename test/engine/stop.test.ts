import { expect, test } from "vitest";
import type { Outcome } from "#core/outcome.ts";
import { EngineStopped } from "#engine/engine-stopped.ts";
import { command, create, reply, setUp } from "#test/support/engine/set-up.ts";

test("a stop finishes the effects in flight, saves their outcomes, and starts nothing more", async () => {
  const { engine, ask, chat, clock, store } = setUp();
  await engine.start();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  chat.answer = () => promise;
  await ask("chat:a", reply("r1", "chat:a"), reply("r2", "chat:a"));
  await clock.advance(0);
  expect(engine.status().inFlight).toBe(1);
  const stopped = engine.stop();
  resolve({ ok: true, kind: "reply", message: "m" });
  await stopped;
  expect(store.get("chat:a").effects.map(({ id }) => id)).toEqual(["r2"]);
  await clock.advance(60_000);
  expect(chat.tries).toHaveLength(1);
  expect(clock.waiting()).toBe(0);
});

test("a stop waits for hanging effects up to a limit, and the restart searches for their results", async () => {
  const before = setUp({ limits: { stopMs: 5_000 } });
  await before.engine.start();
  before.chat.answer = () => new Promise(() => {});
  await before.ask("chat:a", reply("r1", "chat:a"));
  await before.clock.advance(0);
  let stopped = false;
  const stopping = before.engine.stop().then(() => {
    stopped = true;
  });
  await before.clock.advance(4_999);
  expect(stopped).toBe(false);
  await before.clock.advance(1);
  await stopping;
  expect(before.clock.waiting()).toBe(0);

  const { engine, chat, clock } = before.restart();
  await engine.start();
  await clock.advance(0);
  expect(chat.tries.map(({ uncertain }) => uncertain)).toEqual([false, true]);
});

test("events are rejected with a sentence after the stop", async () => {
  const { engine } = setUp();
  await engine.start();
  await engine.stop();
  await expect(engine.accept(command("chat:a"))).rejects.toThrow(EngineStopped);
  await expect(engine.accept(command("chat:a"))).rejects.toThrow("deliver this one again");
});

test("an event that is being saved during a stop is still saved and acknowledged", async () => {
  const { engine, ask, store, clock } = setUp();
  await engine.start();
  const { promise, resolve } = Promise.withResolvers<void>();
  const change = store.change.bind(store);
  store.change = (ref, fn) => promise.then(() => change(ref, fn));
  const accepted = ask("chat:a", reply("r1", "chat:a"));
  let stopped = false;
  const stopping = engine.stop().then(() => {
    stopped = true;
  });
  await clock.advance(1_000);
  expect(stopped).toBe(false);
  resolve();
  expect(await accepted).toBe("saved");
  await stopping;
  expect(store.get("chat:a").effects).toHaveLength(1);
});

test("a stop ends the polling, even during a sweep, and may be repeated", async () => {
  const { engine, ask, api, clock } = setUp();
  await engine.start();
  await ask("chat:a", create("d1"));
  await clock.advance(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  api.before = () => promise;
  await clock.advance(2_000);
  const stopping = Promise.all([engine.stop(), engine.stop()]);
  resolve();
  await stopping;
  const calls = api.calls.length;
  await clock.advance(10 * 60_000);
  expect(api.calls).toHaveLength(calls);
  expect(clock.waiting()).toBe(0);
});
