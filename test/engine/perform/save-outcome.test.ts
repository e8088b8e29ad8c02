import { expect, test } from "vitest";
import { create, reply, setUp } from "#test/support/engine/set-up.ts";
import { newRecord, newThread } from "#test/support/engine/small-decide.ts";
import { success } from "#test/support/engine/stand-in-platform.ts";

test("an outcome that can't be saved is saved later, and the effect is not performed again", async () => {
  const { engine, ask, chat, clock, store, logged } = setUp();
  await engine.start();
  chat.answer = (effect) => {
    if (effect.id === "r1") store.broken = new Error("no space left");
    return success(effect);
  };
  await ask("chat:a", reply("r1", "chat:a"), reply("r2", "chat:a"));
  await clock.advance(10 * 60_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1"]);
  expect(store.get("chat:a").effects).toHaveLength(2);
  store.broken = null;
  await clock.advance(60_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1", "r2"]);
  expect(store.get("chat:a").effects).toEqual([]);
  expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
});

test("a run whose creation could not be saved before a restart is found, not created again", async () => {
  const before = setUp();
  await before.engine.start();
  before.api.afterwards = () => {
    before.store.broken = new Error("no space left");
  };
  await before.ask("chat:a", create("d1"));
  await before.clock.advance(60_000);
  expect(before.api.count("create")).toBe(1);

  before.api.afterwards = () => {};
  const stopped = before.engine.stop();
  await before.clock.advance(10_000);
  await stopped;
  before.store.broken = null;
  const { engine, api, store, clock } = before.restart();
  await engine.start();
  await clock.advance(0);
  expect(api.count("create")).toBe(1);
  expect(store.get("chat:a").runs[0]?.runId).toBe("run-1");
});

test("an outcome whose run belongs to another thread is saved as refused and blocks nothing", async () => {
  const { engine, ask, clock, api, store } = setUp();
  await engine.start();
  store.put(newThread("chat:theirs", { runs: [newRecord("d0", { runId: "run-1", open: false })] }));
  const change = store.change.bind(store);
  // Like a store that allows a run in one thread only.
  store.change = (ref, fn) =>
    change(ref, (thread) => {
      const changed = fn(thread);
      const claims = changed.thread?.runs.some(({ runId }) => runId === "run-1") ?? false;
      if (claims && changed.thread?.id === "chat:a") throw new Error("the run has a thread");
      return changed;
    });
  await ask("chat:a", create("d1"), create("d2"));
  await clock.advance(60_000);
  expect(store.get("chat:a").effects).toEqual([]);
  expect(store.get("chat:a").said).toHaveLength(1);
  expect(store.get("chat:a").runs.map(({ runId }) => runId)).toEqual([null, "run-2"]);
  expect(api.count("create")).toBe(2);
});
