import { expect, test } from "vitest";
import { create, followUp, type SetUp, setUp } from "#test/support/engine/set-up.ts";
import { newRecord, newThread } from "#test/support/engine/small-decide.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";

/** Saved threads with one unfinished run each. */
function unfinished(made: SetUp, count: number, name: string | null = "bot"): void {
  for (let n = 1; n <= count; n += 1) {
    const runId = `${name}-run-${n}`;
    const updated_at = new Date(made.clock.now() - 60_000 + n * 10).toISOString();
    made.api.add({ run_id: runId, agent_config: { name }, updated_at });
    const record = newRecord(`d${n}`, { runId, name });
    made.store.put(newThread(`chat:${name}-${n}`, { runs: [record] }));
  }
}

const sweeps = (made: SetUp) => made.observed.filter(({ kind }) => kind === "swept").length;

test("a run is followed to its end, after which requests stop", async () => {
  const made = setUp();
  const { engine, ask, api, clock, store } = made;
  await engine.start();
  await ask("chat:a", create("d1"));
  await clock.advance(4_000);
  expect(store.get("chat:a").runs[0]?.run?.state).toBe("QUEUED");
  api.turn("run-1", "INPROGRESS");
  await clock.advance(2_000);
  expect(store.get("chat:a").runs[0]?.run?.state).toBe("INPROGRESS");
  expect(engine.status().unfinishedRuns).toBe(1);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(2_000);
  expect(store.get("chat:a").runs[0]).toMatchObject({ open: false, run: { state: "SUCCEEDED" } });
  expect(engine.status()).toMatchObject({ unsettled: 0, unfinishedRuns: 0, lastSweep: { ok: true } });
  const calls = api.calls.length;
  await clock.advance(60 * 60_000);
  expect(api.calls).toHaveLength(calls);
  expect(clock.waiting()).toBe(0);
});

test("a thousand unfinished, unchanged runs cost one request a tick and no store work", async () => {
  const made = setUp();
  unfinished(made, 1_000);
  await made.engine.start();
  await made.clock.advance(2_000);
  // The first sweep lists all runs, later ones only changed runs.
  expect(made.small.runEvents).toHaveLength(1_000);
  await made.clock.advance(120_000);
  const { api, store, clock } = made;
  const [requests, changes, ticks] = [api.calls.length, store.changes, sweeps(made)];
  await clock.advance(170_000);
  const ticked = sweeps(made) - ticks;
  expect(ticked).toBeGreaterThan(3);
  expect(api.calls.length - requests).toBe(ticked);
  expect(store.changes).toBe(changes);
  expect(api.count("fetch")).toBe(0);
});

test("after a thousand changes at once a tick costs one request, and a change that appears late is found", async () => {
  const made = setUp();
  unfinished(made, 1_000);
  const { engine, api, clock, store } = made;
  await engine.start();
  await clock.advance(120_000);
  for (let n = 1; n <= 1_000; n += 1) api.turn(`bot-run-${n}`, "INPROGRESS");
  await clock.advance(30_000);
  expect(store.get("chat:bot-500").runs[0]?.run?.state).toBe("INPROGRESS");
  const [requests, ticks] = [api.calls.length, sweeps(made)];
  await clock.advance(20_000);
  expect(sweeps(made) - ticks).toBe(10);
  expect(api.calls.length - requests).toBe(10);
  const happened = new Date(clock.now() - 500).toISOString();
  for (let n = 101; n <= 800; n += 1) api.turn(`bot-run-${n}`, "CLAIMED");
  await clock.advance(4_000);
  // A change from before the others, which appears only now.
  const late = api.runs.get("bot-run-7");
  if (late === undefined) throw new Error("there is no such run");
  api.runs.set("bot-run-7", { ...late, state: "SUCCEEDED", updated_at: happened });
  await clock.advance(90_000);
  expect(store.get("chat:bot-7").runs[0]?.open).toBe(false);
});

test("of a thousand runs only the one that changed costs a write", async () => {
  const made = setUp();
  unfinished(made, 1_000);
  await made.engine.start();
  await made.clock.advance(120_000);
  const changes = made.store.changes;
  made.api.turn("bot-run-77", "SUCCEEDED");
  await made.clock.advance(60_000);
  expect(made.store.get("chat:bot-77").runs[0]?.open).toBe(false);
  expect(made.store.changes).toBe(changes + 1);
});

test("runs that ended while the bot was down are found at the start, page by page", async () => {
  const made = setUp();
  made.api.pageSize = 100;
  unfinished(made, 350);
  await made.clock.advance(24 * 3_600_000);
  for (let n = 1; n <= 350; n += 1) made.api.turn(`bot-run-${n}`, "SUCCEEDED");
  await made.engine.start();
  await made.clock.advance(0);
  expect(made.engine.status()).toMatchObject({ unfinishedRuns: 0, unsettled: 0 });
});

test("other people's runs of the same name cause no store access", async () => {
  const made = setUp();
  unfinished(made, 1);
  for (let n = 0; n < 20; n += 1) made.api.add({ run_id: `theirs-${n}` });
  await made.engine.start();
  await made.clock.advance(10_000);
  expect(made.small.runEvents.map(({ run_id }) => run_id)).toEqual(["bot-run-1"]);
});

test("ticks grow longer while nothing happens, and are short again at once after a follow-up", async () => {
  const made = setUp();
  unfinished(made, 1);
  const { engine, clock, api, ask } = made;
  await engine.start();
  await clock.advance(20_000);
  expect(sweeps(made)).toBeGreaterThanOrEqual(9);
  await clock.advance(280_000);
  const before = sweeps(made);
  await clock.advance(300_000);
  expect(sweeps(made) - before).toBeLessThanOrEqual(11);
  const quiet = sweeps(made);
  await ask("chat:bot-1", followUp("f1", "d1"));
  await clock.advance(0);
  expect(api.count("followUp")).toBe(1);
  expect(sweeps(made)).toBe(quiet + 1);
  await clock.advance(10_000);
  expect(sweeps(made)).toBe(quiet + 6);
});

test("many dispatches at once do not shorten ticks below the minimum", async () => {
  const made = setUp();
  await made.engine.start();
  for (let n = 0; n < 30; n += 1) {
    await made.ask(`chat:${n}`, create(`d${n}`));
    await made.clock.advance(100);
  }
  expect(made.api.count("create")).toBe(30);
  expect(sweeps(made)).toBeLessThanOrEqual(3);
});

test("never more than one sweep is under way", async () => {
  const made = setUp();
  unfinished(made, 1);
  let now = 0;
  let most = 0;
  made.api.before = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => made.clock.after(9_000, resolve));
    now -= 1;
  };
  await made.engine.start();
  await made.clock.advance(60_000);
  await made.ask("chat:z", followUp("f1", "nobody"));
  await made.clock.advance(20_000);
  expect(made.api.count("list")).toBeGreaterThan(5);
  expect(most).toBe(1);
});

test("API errors don't end the polling: it backs off and logs the first error", async () => {
  const made = setUp();
  unfinished(made, 1);
  const { engine, api, clock, logged, store } = made;
  api.before = () => {
    throw new Refusal({ certainty: "unknown", retryable: true, reason: "The API is not there." });
  };
  await engine.start();
  await clock.advance(10 * 60_000);
  expect(api.count("list")).toBeLessThan(25);
  expect(engine.status().lastSweep).toMatchObject({ ok: false, reason: "The API is not there." });
  expect(logged.filter(({ level }) => level === "warn")).toHaveLength(1);
  api.before = () => {};
  api.turn("bot-run-1", "SUCCEEDED");
  await clock.advance(60_000);
  expect(store.get("chat:bot-1").runs[0]?.open).toBe(false);
  expect(engine.status().lastSweep).toMatchObject({ ok: true });
  expect(logged.filter(({ level }) => level === "info")).toHaveLength(1);
});

test("a rate limit of the API is obeyed even after a new dispatch", async () => {
  const made = setUp();
  unfinished(made, 1);
  const { engine, api, clock, ask } = made;
  api.before = (call) => {
    if (call === "list" && api.count("list") === 1) {
      throw new Refusal({ status: 429, retryable: true, retryAfterMs: 90_000 });
    }
  };
  await engine.start();
  await clock.advance(10_000);
  await ask("chat:z", create("d9"));
  await clock.advance(79_999);
  expect(api.count("create")).toBe(1);
  expect(api.count("list")).toBe(1);
  await clock.advance(1);
  expect(api.count("list")).toBe(2);
});

test("a change that could not be saved is delivered again once the store works", async () => {
  const made = setUp();
  unfinished(made, 1);
  const { engine, api, clock, store, logged } = made;
  await engine.start();
  await clock.advance(2_000);
  api.turn("bot-run-1", "SUCCEEDED");
  store.broken = new Error("no space left");
  await clock.advance(5 * 60_000);
  expect(engine.status().lastSweep?.ok).toBe(false);
  expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
  store.broken = null;
  await clock.advance(5 * 60_000);
  expect(store.get("chat:bot-1").runs[0]?.open).toBe(false);
  expect(engine.status().lastSweep?.ok).toBe(true);
});

test("a thread that can't be saved does not delay changes of other threads", async () => {
  const made = setUp();
  unfinished(made, 3);
  const { engine, api, clock, store } = made;
  await engine.start();
  await clock.advance(2_000);
  const change = store.change.bind(store);
  store.change = (ref, fn) =>
    ref === "run:bot-run-2" ? Promise.reject(new Error("this document is broken")) : change(ref, fn);
  for (const n of [1, 2, 3]) api.turn(`bot-run-${n}`, "INPROGRESS");
  await clock.advance(2_000);
  for (const n of [1, 3]) expect(store.get(`chat:bot-${n}`).runs[0]?.run?.state).toBe("INPROGRESS");
  await clock.advance(10 * 60_000);
  api.turn("bot-run-1", "SUCCEEDED");
  await clock.advance(30_000);
  expect(store.get("chat:bot-1").runs[0]?.open).toBe(false);
});

test("an older snapshot, from a replica that is behind, is not delivered", async () => {
  const made = setUp();
  unfinished(made, 1);
  const { engine, api, clock, small } = made;
  await engine.start();
  await clock.advance(2_000);
  const older = api.runs.get("bot-run-1");
  api.turn("bot-run-1", "INPROGRESS");
  await clock.advance(2_000);
  if (older !== undefined) api.runs.set("bot-run-1", older);
  await clock.advance(10_000);
  expect(small.runEvents.map(({ state }) => state)).toEqual(["QUEUED", "INPROGRESS"]);
});

test("a thread that can't be saved does not cause other runs to be listed again and again", async () => {
  const made = setUp();
  unfinished(made, 50);
  const { engine, api, clock, store } = made;
  await engine.start();
  await clock.advance(2_000);
  const change = store.change.bind(store);
  const full = new Error("no space left");
  store.change = (ref, fn) => (ref === "run:bot-run-2" ? Promise.reject(full) : change(ref, fn));
  api.turn("bot-run-2", "INPROGRESS");
  await clock.advance(60 * 60_000);
  for (let n = 3; n <= 50; n += 1) api.turn(`bot-run-${n}`, "INPROGRESS");
  await clock.advance(10 * 60_000);
  const after = Date.parse(api.queries.at(-1)?.updated_after ?? "");
  const newest = Date.parse(api.runs.get("bot-run-50")?.updated_at ?? "");
  expect(after).toBeGreaterThanOrEqual(newest - 15 * 60_000 - 1);
  store.change = change;
  await clock.advance(10 * 60_000);
  expect(store.get("chat:bot-2").runs[0]?.run?.state).toBe("INPROGRESS");
  expect(engine.status().lastSweep?.ok).toBe(true);
});
