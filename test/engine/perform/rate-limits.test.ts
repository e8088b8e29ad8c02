import { expect, test } from "vitest";
import type { Outcome } from "#core/outcome.ts";
import { card, create, followUp, reply, setUp } from "#test/support/engine/set-up.ts";
import { newRecord, newThread } from "#test/support/engine/small-decide.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";
import { success } from "#test/support/engine/stand-in-platform.ts";

const limited: Outcome = {
  ok: false,
  fault: { certainty: "refused", retryable: true, reason: "slow down", retryAfterMs: 20_000, limited: true },
};

test("a platform's limit pauses that kind of effect in all threads, and nothing else", async () => {
  const { engine, ask, chat, forge, clock, store } = setUp();
  await engine.start();
  chat.answer = (effect) => (effect.id === "r1" && chat.tries.length === 1 ? limited : success(effect));
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(0);
  await ask("chat:b", reply("r2", "chat:b"), reply("r3", "forge:x#1"), {
    ...reply("x1", "chat:c"),
    kind: "react",
    message: "m",
    reaction: "taken",
  });
  await clock.advance(19_999);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1", "x1"]);
  expect(forge.tries.map(({ id }) => id)).toEqual(["r3"]);
  await clock.advance(1);
  expect(chat.tries.map(({ id }) => id).sort()).toEqual(["r1", "r1", "r2", "x1"]);
  expect(store.get("chat:a").effects).toEqual([]);
  expect(store.get("chat:b").effects).toEqual([]);
});

test("a rate limit also holds back the effects that wait for a slot", async () => {
  const { engine, ask, chat, clock } = setUp({ limits: { perSystem: 1 } });
  await engine.start();
  chat.answer = (effect) => (chat.tries.length === 1 ? limited : success(effect));
  await ask("chat:a", reply("r1", "chat:a"));
  await ask("chat:b", reply("r2", "chat:b"));
  await clock.advance(19_999);
  expect(chat.tries).toHaveLength(1);
  await clock.advance(1);
  expect(chat.tries).toHaveLength(3);
});

test("the API's limit on creating pauses creating alone, and no dispatch is lost", async () => {
  const { engine, ask, api, clock, store } = setUp();
  store.put(newThread("chat:c", { runs: [newRecord("d0", { runId: "run-0" })] }));
  api.add({ run_id: "run-0" });
  await engine.start();
  api.before = (call) => {
    if (call === "create" && api.count("create") === 1) {
      throw new Refusal({ status: 429, retryable: true, code: "resource_unavailable", retryAfterMs: 30_000 });
    }
  };
  await ask("chat:a", create("d1"));
  await clock.advance(0);
  await ask("chat:b", create("d2"));
  await ask("chat:c", followUp("f1", "d0"));
  await clock.advance(29_999);
  expect(api.count("create")).toBe(1);
  expect(api.count("followUp")).toBe(1);
  await clock.advance(1);
  expect(api.count("create")).toBe(3);
  expect(api.runs.size).toBe(3);
});

test("a limit that is met while a follow-up's run is read holds the follow-up back", async () => {
  const { engine, ask, api, clock, store } = setUp();
  for (const n of [1, 2]) {
    store.put(newThread(`chat:${n}`, { runs: [newRecord(`d${n}`, { runId: `run-${n}` })] }));
    api.add({ run_id: `run-${n}` });
  }
  await engine.start();
  const reading = Promise.withResolvers<void>();
  api.before = (call) => {
    if (call === "fetch" && api.count("fetch") === 1) return reading.promise;
    if (call !== "followUp" || api.count("followUp") > 1) return;
    throw new Refusal({ status: 429, retryable: true, retryAfterMs: 30_000 });
  };
  await ask("chat:1", followUp("f1", "d1"));
  await ask("chat:2", followUp("f2", "d2"));
  await clock.advance(3_000);
  expect(api.count("followUp")).toBe(1);
  reading.resolve();
  await clock.advance(26_999);
  expect(api.count("followUp")).toBe(1);
  await clock.advance(5_000);
  expect(api.count("followUp")).toBe(3);
  expect([...api.conversations.keys()].sort()).toEqual(["run-1", "run-2"]);
});

test("a limit on edits holds up no new card and no run", async () => {
  const { engine, ask, chat, api, clock } = setUp();
  await engine.start();
  chat.answer = (effect) => (effect.id === "edit" ? limited : success(effect));
  await ask("chat:a", card("edit", "chat:a", 2, { message: "m" }));
  await clock.advance(0);
  await ask("chat:b", card("new", "chat:b", 1), create("d1", { after: "new" }));
  await clock.advance(0);
  expect(chat.tries.map(({ id }) => id)).toEqual(["edit", "new"]);
  expect(api.count("create")).toBe(1);
});

test("after a limit one effect goes on, and the others only after its success", async () => {
  const { engine, ask, chat, clock } = setUp();
  await engine.start();
  const trial = Promise.withResolvers<Outcome>();
  chat.answer = (effect) => {
    if (chat.tries.length <= 2) return limited;
    return chat.tries.length === 3 ? trial.promise : success(effect);
  };
  await ask("chat:0", reply("r0", "chat:0"));
  await clock.advance(0);
  for (let n = 1; n <= 10; n += 1) await ask(`chat:${n}`, reply(`r${n}`, `chat:${n}`));
  await clock.advance(19_999);
  expect(chat.tries).toHaveLength(1);
  await clock.advance(1);
  // It is refused again, so that the next try comes another 20 seconds later.
  expect(chat.tries).toHaveLength(2);
  await clock.advance(25_000);
  expect(chat.tries).toHaveLength(3);
  trial.resolve({ ok: true, kind: "reply", message: "m" });
  await clock.advance(20_000);
  expect(new Set(chat.tries.map(({ id }) => id)).size).toBe(11);
  expect(chat.tries).toHaveLength(13);
});

test("a trial that is refused for another reason ends the limit too; one that never arrives does not", async () => {
  const { engine, ask, chat, clock } = setUp();
  await engine.start();
  const notSent: Outcome = {
    ok: false,
    fault: { certainty: "not-sent", retryable: true, reason: "away", retryAfterMs: 60_000 },
  };
  const refused: Outcome = {
    ok: false,
    fault: { certainty: "refused", retryable: false, reason: "archived" },
  };
  const answers = [limited, notSent, refused];
  const atOnce: number[] = [];
  chat.answer = (effect) => {
    atOnce.push(clock.elapsed());
    return answers.shift() ?? success(effect);
  };
  for (let n = 0; n <= 5; n += 1) await ask(`chat:${n}`, reply(`r${n}`, `chat:${n}`));
  await clock.advance(120_000);
  expect(answers).toEqual([]);
  expect(chat.tries).toHaveLength(8);
});
