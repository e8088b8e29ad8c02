import { expect, test } from "vitest";
import type { Outcome } from "#core/outcome.ts";
import { card, command, create, reply, setUp, since } from "#test/support/engine/set-up.ts";
import { newRecord, newThread } from "#test/support/engine/small-decide.ts";
import { success } from "#test/support/engine/stand-in-platform.ts";

/** An outcome under the test's control. */
function withheld() {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  return { promise, resolve };
}

const later: Outcome = {
  ok: false,
  fault: { certainty: "not-sent", retryable: true, reason: "not now" },
};

test("effects toward one destination are performed in order, one at a time", async () => {
  const { engine, ask, chat, clock, store } = setUp();
  await engine.start();
  const first = withheld();
  chat.answer = (effect) => (effect.id === "r1" ? first.promise : success(effect));
  await ask("chat:a", reply("r1", "chat:a"), reply("r2", "chat:a"));
  await ask("chat:a", reply("r3", "chat:a"));
  await clock.advance(60_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1"]);
  first.resolve({ ok: true, kind: "reply", message: "m" });
  await clock.advance(0);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1", "r2", "r3"]);
  expect(store.get("chat:a").effects).toEqual([]);
});

test("a slow destination delays neither another destination of its thread nor another thread", async () => {
  const { engine, ask, chat, forge, api, clock } = setUp();
  await engine.start();
  chat.answer = (effect) => (effect.at === "chat:a" ? new Promise(() => {}) : success(effect));
  await ask("chat:a", reply("r1", "chat:a"), reply("r2", "forge:x#1"), create("d1"), reply("r3", "chat:c"));
  await ask("chat:b", reply("r4", "chat:b"));
  await clock.advance(0);
  expect(forge.tries.map(({ id }) => id)).toEqual(["r2"]);
  expect(chat.tries.map(({ id }) => id).sort()).toEqual(["r1", "r3", "r4"]);
  expect(api.count("create")).toBe(1);
});

test("a platform that hangs delays neither the other platform nor the API", async () => {
  const { engine, ask, chat, forge, api, clock } = setUp({ limits: { perSystem: 2 } });
  await engine.start();
  chat.answer = () => new Promise(() => {});
  for (let n = 0; n < 5; n += 1) await ask(`chat:${n}`, reply(`r${n}`, `chat:${n}`));
  await ask("forge:x#1", reply("g", "forge:x#1"), create("d1"));
  await clock.advance(0);
  expect(chat.tries).toHaveLength(2);
  expect(forge.tries).toHaveLength(1);
  expect(api.count("create")).toBe(1);
});

test("hanging creates don't delay other threads' answers, lists and cancels", async () => {
  const { engine, ask, api, clock, store } = setUp({ limits: { perSystem: 16 } });
  store.put(newThread("chat:b", { runs: [newRecord("d0", { runId: "run-0", open: false })] }));
  api.add({ run_id: "run-0" });
  api.before = (call) => (call === "create" ? new Promise(() => {}) : undefined);
  await engine.start();
  for (let n = 1; n <= 20; n += 1) await ask(`chat:${n}`, create(`d${n}`));
  await clock.advance(0);
  expect(api.count("create")).toBe(16);
  const asked = command("chat:b");
  const common = { to: "agent-runs" as const, since, tries: 0, asked };
  await ask("chat:b", { ...common, kind: "list", id: "x1" });
  await ask("chat:b", { ...common, kind: "cancel", id: "x2", dispatch: "d0" });
  await clock.advance(0);
  expect([api.count("list") > 0, api.count("cancel")]).toEqual([true, 1]);
  expect(store.get("chat:b").effects).toEqual([]);
});

test("the number of concurrent effects of one system is limited, and all are performed", async () => {
  const { engine, ask, chat, clock } = setUp({ limits: { perSystem: 3 } });
  await engine.start();
  let now = 0;
  let most = 0;
  chat.answer = async (effect) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return success(effect);
  };
  for (let n = 0; n < 20; n += 1) await ask(`chat:${n}`, reply(`r${n}`, `chat:${n}`));
  for (let n = 0; n < 20; n += 1) await clock.advance(0);
  expect(chat.tries).toHaveLength(20);
  expect(most).toBe(3);
});

test("an effect is not tried before its time, and later effects of its lane wait too", async () => {
  const { engine, ask, chat, clock } = setUp();
  await engine.start();
  const notBefore = new Date(clock.now() + 5_000).toISOString();
  await ask("chat:a", reply("r1", "chat:a", { notBefore }), reply("r2", "chat:a"));
  await clock.advance(4_999);
  expect(chat.tries).toHaveLength(0);
  await clock.advance(1);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1", "r2"]);
});

test("a failed effect is retried after growing waits, before later effects of its lane", async () => {
  const { engine, ask, chat, clock } = setUp();
  await engine.start();
  let failures = 2;
  chat.answer = (effect) => (failures-- > 0 ? later : success(effect));
  await ask("chat:a", reply("r1", "chat:a"), reply("r2", "chat:a"));
  await clock.advance(999);
  expect(chat.tries).toHaveLength(1);
  await clock.advance(1);
  expect(chat.tries).toHaveLength(2);
  await clock.advance(2_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1", "r1", "r1", "r2"]);
});

test("an effect waits for the effect that it comes after, in any lane", async () => {
  const { engine, ask, chat, api, clock } = setUp();
  await engine.start();
  const posting = withheld();
  chat.answer = () => posting.promise;
  await ask("chat:a", card("c1", "chat:a", 1), create("d1", { after: "c1" }));
  await clock.advance(60_000);
  expect(api.count("create")).toBe(0);
  posting.resolve({ ok: true, kind: "card", revision: 1, message: "m", place: "chat:a" });
  await clock.advance(0);
  expect(api.count("create")).toBe(1);
});

test("of several pending edits only the newest is sent", async () => {
  const { engine, ask, chat, clock, store } = setUp();
  await engine.start();
  const first = withheld();
  chat.answer = (effect) => (effect.id === "r1" ? first.promise : success(effect));
  await ask("chat:a", reply("r1", "chat:a"), card("c1", "chat:a", 1));
  await clock.advance(0);
  const thread = store.get("chat:a");
  store.put({ ...thread, effects: [reply("r1", "chat:a"), card("c1", "chat:a", 7)] });
  first.resolve({ ok: true, kind: "reply", message: "m" });
  await clock.advance(0);
  expect(chat.tries.map(({ effect }) => (effect.kind === "card" ? effect.revision : 0))).toEqual([0, 7]);
});

test("a newer view, decided while an older one is being sent, is sent right after it", async () => {
  const { engine, ask, chat, clock, store } = setUp();
  await engine.start();
  const first = withheld();
  chat.answer = (effect) => (chat.tries.length === 1 ? first.promise : success(effect));
  await ask("chat:a", card("c1", "chat:a", 1));
  await clock.advance(0);
  store.put({ ...store.get("chat:a"), effects: [card("c1", "chat:a", 2)] });
  first.resolve({ ok: true, kind: "card", revision: 1, message: "m", place: "chat:a" });
  await clock.advance(0);
  expect(chat.tries.map(({ effect }) => (effect.kind === "card" ? effect.revision : 0))).toEqual([1, 2]);
  expect(store.get("chat:a").effects).toEqual([]);
});

test("an effect whose platform rejects, against its contract, is retried as uncertain", async () => {
  const { engine, ask, chat, clock, logged } = setUp();
  await engine.start();
  chat.answer = (effect) => {
    if (chat.tries.length === 1) throw new Error("a defect");
    return success(effect);
  };
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(2_000);
  expect(chat.tries.map(({ uncertain }) => uncertain)).toEqual([false, true]);
  expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
});

test("an effect without an answer times out and is retried as uncertain", async () => {
  const { engine, ask, chat, clock } = setUp({ limits: { effectMs: 30_000 } });
  await engine.start();
  chat.answer = (effect) => (chat.tries.length === 1 ? new Promise(() => {}) : success(effect));
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(29_999);
  expect(chat.tries).toHaveLength(1);
  await clock.advance(2_000);
  expect(chat.tries.map(({ uncertain }) => uncertain)).toEqual([false, true]);
});

test("an effect that a decision leaves unchanged is retried only after a pause", async () => {
  const { engine, ask, chat, clock, store } = setUp();
  await engine.start();
  // A card with an older revision than the pending one counts as not sent.
  chat.answer = () => ({ ok: true, kind: "card", revision: 0, message: "m", place: "chat:a" });
  await ask("chat:a", card("c1", "chat:a", 1));
  await clock.advance(60_000);
  expect(store.get("chat:a").effects).toHaveLength(1);
  expect(chat.tries.length).toBeGreaterThan(3);
  expect(chat.tries.length).toBeLessThan(12);
});

test("each performed effect is observed", async () => {
  const { engine, ask, chat, clock, observed } = setUp();
  await engine.start();
  chat.answer = () => ({ ok: false, fault: { certainty: "refused", retryable: false, reason: "no" } });
  await ask("chat:a", reply("r1", "chat:a"), create("d1"));
  await clock.advance(0);
  const performed = observed.flatMap((one) => (one.kind === "performed" ? [one] : []));
  expect(performed.map(({ effect, system, ok }) => [effect, system, ok]).sort()).toEqual([
    ["create", "agent-runs", true],
    ["reply", "chat", false],
  ]);
});
