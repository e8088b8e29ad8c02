import { expect, test } from "vitest";
import { create, reply, setUp } from "#test/support/engine/set-up.ts";
import { newThread } from "#test/support/engine/small-decide.ts";

test("an effect found at the start is uncertain; a new one is not", async () => {
  const before = setUp();
  await before.ask("chat:a", reply("r1", "chat:a"));
  const { engine, ask, chat, clock } = before.restart();
  await engine.start();
  await ask("chat:a", reply("r2", "chat:a"));
  await clock.advance(0);
  expect(chat.tries.map(({ id, uncertain }) => [id, uncertain])).toEqual([
    ["r1", true],
    ["r2", false],
  ]);
});

test("an effect of an earlier process is uncertain even if its thread changes before it is loaded", async () => {
  const before = setUp();
  await before.ask("chat:a", reply("r1", "chat:a"));
  const { engine, ask, chat, clock } = before.restart();
  await ask("chat:a", reply("r2", "chat:a"));
  await engine.start();
  await clock.advance(0);
  expect(chat.tries.map(({ id, uncertain }) => [id, uncertain])).toEqual([
    ["r1", true],
    ["r2", false],
  ]);
});

test("effects performed while threads are loading are not performed again from the older copy", async () => {
  const { engine, store, ask, chat, clock } = setUp();
  for (let n = 0; n < 3; n += 1) {
    store.put(newThread(`chat:${n}`, { effects: [reply(`r${n}`, `chat:${n}`)] }));
  }
  const real = store.unsettled.bind(store);
  store.unsettled = async function* () {
    for await (const thread of real()) {
      if (thread.id === "chat:1") {
        store.put({ ...thread, effects: [] });
        await ask("chat:1");
      }
      yield thread;
    }
  };
  await engine.start();
  await clock.advance(0);
  expect(chat.tries.map(({ id }) => id).sort()).toEqual(["r0", "r2"]);
});

test("a kill between the creation of a run and its saving causes no second run", async () => {
  const before = setUp();
  await before.engine.start();
  before.api.afterwards = () => new Promise(() => {});
  await before.ask("chat:a", create("d1"));
  await before.clock.advance(0);
  expect(before.api.runs.size).toBe(1);

  before.api.afterwards = () => {};
  const { engine, store, api, clock } = before.restart();
  await engine.start();
  await clock.advance(0);
  expect(api.runs.size).toBe(1);
  expect(store.get("chat:a").runs[0]?.runId).toBe("run-1");
});

test("a start with a thousand unsettled threads performs them all", async () => {
  const { engine, store, chat, clock } = setUp();
  for (let n = 0; n < 1_000; n += 1) {
    store.put(newThread(`chat:${n}`, { effects: [reply(`r${n}`, `chat:${n}`)] }));
  }
  await engine.start();
  expect(engine.status()).toMatchObject({ unsettled: 1_000, pendingEffects: 1_000 });
  await clock.advance(0);
  expect(new Set(chat.tries.map(({ id }) => id)).size).toBe(1_000);
  expect(engine.status()).toMatchObject({ unsettled: 0, pendingEffects: 0, inFlight: 0 });
});

test("a start fails when the unsettled threads can't be read", async () => {
  const { engine, store } = setUp();
  store.unsettled = () => {
    throw new Error("the folder can't be read");
  };
  await expect(engine.start()).rejects.toThrow("the folder can't be read");
});

test("threads that can't be read at the start don't end it, and are performed once they can", async () => {
  const before = setUp();
  for (let n = 0; n < 3; n += 1) await before.ask(`chat:${n}`, reply(`r${n}`, `chat:${n}`));
  const { engine, store, chat, clock, logged } = before.restart();
  const real = store.unsettled.bind(store);
  let broken = true;
  store.unsettled = async function* () {
    for await (const thread of real()) if (!broken || thread.id !== "chat:1") yield thread;
    if (broken) throw Object.assign(new Error("the disk says EIO"), { leftOut: 1 });
  };
  await engine.start();
  await clock.advance(10 * 60_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r0", "r2"]);
  expect(logged.some(({ level }) => level === "error")).toBe(true);
  broken = false;
  await clock.advance(5 * 60_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r0", "r2", "r1"]);
  expect(engine.status()).toMatchObject({ unsettled: 0 });
});
