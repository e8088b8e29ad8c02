import { expect, test } from "vitest";
import { dispatchKey, referenceLine } from "#core/run.ts";
import type { RunRecord } from "#core/thread.ts";
import { create, followUp, type SetUp, setUp } from "#test/support/engine/set-up.ts";
import { newRecord, newThread, requestOf } from "#test/support/engine/small-decide.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";

const timedOut = {
  certainty: "unknown",
  retryable: true,
  reason: "The API did not answer in time.",
} as const;

/** Makes the first call of this kind succeed at the API and fail for the caller. */
function losesTheAnswer(made: SetUp, call: "create" | "followUp" | "dispatchToFactory"): void {
  made.api.afterwards = (made_) => {
    if (made_ === call && made.api.count(call) === 1) throw new Refusal(timedOut);
  };
}

async function dispatch(made: SetUp, record: Partial<RunRecord> = {}): Promise<void> {
  made.small.records.set("d1", record);
  await made.engine.start();
  await made.ask("chat:a", create("d1"));
  await made.clock.advance(10_000);
}

/** More than the settling time and the waits between the looks. */
const settlingMs = 180_000;

test("a run that was created although the call failed is found by its metadata and not created again", async () => {
  const made = setUp();
  losesTheAnswer(made, "create");
  await dispatch(made);
  expect(made.api.count("create")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-1");
  expect(made.api.queries[0]).toMatchObject({ name: "bot", metadata: { [dispatchKey]: "d1" } });
});

test("a run whose metadata the service dropped is found by the reference line in its prompt", async () => {
  const made = setUp();
  losesTheAnswer(made, "create");
  const before = made.api.before;
  made.api.before = (call) => {
    const run = made.api.runs.get("run-1");
    if (run !== undefined) made.api.runs.set("run-1", { ...run, metadata: null });
    return before(call);
  };
  await dispatch(made);
  expect(made.api.runs.size).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-1");
});

test("a run is found among all others where the service ignores the name and the time", async () => {
  const made = setUp();
  made.api.ignores.add("name").add("created_after");
  made.api.pageSize = 50;
  for (let n = 0; n < 120; n += 1) made.api.add({ run_id: `other-${n}`, agent_config: { name: "other" } });
  losesTheAnswer(made, "create");
  await dispatch(made);
  expect(made.api.count("create")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-121");
});

test("a search ends at runs that are too old, by the service's own times", async () => {
  const made = setUp();
  made.api.pageSize = 10;
  const old = { created_at: "2020-01-01T00:00:00Z", updated_at: "2020-01-01T00:00:00Z" };
  for (let n = 0; n < 1_000; n += 1) made.api.add({ run_id: `old-${n}`, ...old });
  // The service's clock is a year behind ours.
  made.api.add({ run_id: "newest", created_at: "2025-01-01T00:00:00Z" });
  made.api.before = (call) => {
    if (call === "create" && made.api.count("create") === 1) throw new Refusal(timedOut);
  };
  await made.engine.start();
  await made.ask("chat:a", create("d1"));
  await made.clock.advance(1_500);
  expect(made.api.queries).not.toEqual([]);
  expect(made.api.queries.map(({ cursor }) => cursor)).not.toContain("20");
});

test("a run that is not found is created again only after the settling time", async () => {
  const made = setUp();
  made.api.before = (call) => {
    if (call === "create" && made.api.count("create") === 1) throw new Refusal(timedOut);
  };
  await dispatch(made);
  await made.clock.advance(45_000);
  expect(made.api.count("create")).toBe(1);
  await made.clock.advance(settlingMs);
  expect(made.api.count("create")).toBe(2);
  expect(made.api.runs.size).toBe(1);
});

test("a run that lists show only later is found within the settling time, also after a restart", async () => {
  const made = setUp();
  losesTheAnswer(made, "create");
  const { api } = made;
  const list = api.list.bind(api);
  const createdMs = made.clock.now();
  api.list = async (query) => {
    const page = await list(query);
    return made.clock.now() - createdMs < 50_000 ? { ...page, runs: [] } : page;
  };
  await dispatch(made);
  await made.engine.stop();
  const again = made.restart();
  await again.engine.start();
  await again.clock.advance(settlingMs);
  expect(api.count("create")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-1");
});

test("a run from before our clock was set back while no process ran is found", async () => {
  const made = setUp();
  losesTheAnswer(made, "create");
  const { api, clock } = made;
  api.givesTime = true;
  api.pageSize = 1;
  await made.engine.start();
  api.before = async (call) => {
    if (call === "create") await made.engine.stop();
  };
  const asked = made.ask("chat:a", create("d1"));
  await clock.advance(20_000);
  await asked;
  api.before = () => {};
  expect(api.runs.size).toBe(1);
  await clock.advance(40 * 60_000);
  clock.step(-40 * 60_000);
  for (let n = 0; n < 3; n += 1) api.add({ run_id: `other-${n}`, created_at: "2026-01-01T00:20:00Z" });
  const again = made.restart();
  await again.engine.start();
  await clock.advance(settlingMs);
  expect(api.count("create")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-1");
});

test("a run from before the machine slept is found, though only the wall clock counts its sleep", async () => {
  const made = setUp();
  const { api, clock } = made;
  api.givesTime = true;
  api.pageSize = 1;
  api.afterwards = (call) => {
    if (call !== "create" || api.count("create") > 1) return;
    clock.step(8 * 3_600_000);
    for (let n = 0; n < 3; n += 1) api.add({ run_id: `other-${n}`, created_at: "2026-01-01T07:00:00Z" });
    throw new Refusal(timedOut);
  };
  await dispatch(made);
  await clock.advance(settlingMs);
  expect(api.count("create")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-1");
});

test("no run is created while the search fails", async () => {
  const made = setUp();
  losesTheAnswer(made, "create");
  made.api.before = (call) => {
    if (call === "list") throw new Refusal({ status: 403, code: "not_authorized" });
  };
  await dispatch(made);
  expect(made.api.count("create")).toBe(1);
  expect(made.small.outcomes.at(-1)?.outcome).toMatchObject({
    fault: { certainty: "unknown", code: "not_authorized" },
  });
});

test("a run that only quotes the dispatch's reference line is not taken for it", async () => {
  const made = setUp();
  made.api.add({
    run_id: "another",
    prompt: `earlier:\n${referenceLine("d1")}`,
    metadata: { [dispatchKey]: "d0" },
  });
  made.api.add({ run_id: "longer", prompt: referenceLine("d12") });
  made.api.before = (call) => {
    if (call === "create" && made.api.count("create") === 1) throw new Refusal(timedOut);
  };
  await dispatch(made);
  await made.clock.advance(settlingMs);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-3");
});

test("a run of a factory or a skill is found under any name", async () => {
  const made = setUp();
  made.api.factoryUids.set("fixers", "f-1");
  losesTheAnswer(made, "dispatchToFactory");
  await dispatch(made, { factory: "fixers" });
  expect(made.api.count("dispatchToFactory")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).toBe("run-1");
  expect(made.api.queries[0]?.name).toBeUndefined();

  const other = setUp();
  losesTheAnswer(other, "create");
  await dispatch(other, { request: { ...requestOf("d1"), skill: "octo/app:fix" } });
  expect(other.api.count("create")).toBe(1);
  expect(other.api.queries[0]?.name).toBeUndefined();
});

async function steer(made: SetUp, ageMs = 0): Promise<void> {
  const record = newRecord("d0", { runId: "run-1", open: false });
  made.store.put(newThread("chat:a", { runs: [record] }));
  if (!made.api.runs.has("run-1")) made.api.add({ run_id: "run-1", state: "SUCCEEDED" });
  await made.engine.start();
  await made.ask("chat:a", { ...followUp("f1", "d0"), ageMs });
  await made.clock.advance(10_000);
}

test("a follow-up that arrived although its call failed is found in the conversation and not sent again", async () => {
  const made = setUp();
  losesTheAnswer(made, "followUp");
  await steer(made);
  expect(made.api.count("followUp")).toBe(1);
  expect(made.store.get("chat:a").effects).toEqual([]);
});

test("a follow-up that did not arrive is sent again", async () => {
  const made = setUp();
  made.api.conversations.set("run-1", [
    { role: "user", text: referenceLine("f12") },
    { role: "assistant", text: referenceLine("f1") },
  ]);
  made.api.before = (call) => {
    if (call === "followUp" && made.api.count("followUp") === 1) throw new Refusal(timedOut);
  };
  await steer(made);
  expect(made.api.count("followUp")).toBe(1);
  await made.clock.advance(settlingMs);
  expect(made.api.count("followUp")).toBe(2);
  expect(made.api.conversations.get("run-1")).toHaveLength(3);
});

test("a follow-up is not sent again where the conversation's format is not supported, and its author is told", async () => {
  const made = setUp();
  losesTheAnswer(made, "followUp");
  made.api.messages = async () => null;
  await steer(made);
  await made.clock.advance(settlingMs);
  expect(made.api.count("followUp")).toBe(1);
  expect(made.store.get("chat:a").said.join()).toContain("can't be read");
});

test("a follow-up waits while its run can't be read, since an unreported end would be lost", async () => {
  const made = setUp();
  let readable = false;
  made.api.before = (call) => {
    if (call === "fetch" && !readable) throw new Refusal(timedOut);
  };
  await steer(made);
  expect(made.api.count("fetch")).toBeGreaterThan(1);
  expect(made.api.count("followUp")).toBe(0);
  readable = true;
  await made.clock.advance(5 * 60_000);
  expect(made.api.count("followUp")).toBe(1);
  expect(made.store.get("chat:a").effects).toEqual([]);
});

test("an uncertain follow-up to a run without a conversation waits for the conversation", async () => {
  const made = setUp();
  made.api.add({ run_id: "run-1", state: "QUEUED" });
  made.api.before = (call) => {
    if (call === "followUp") throw new Refusal(timedOut);
  };
  await steer(made);
  expect(made.api.count("followUp")).toBe(1);
  made.api.conversations.set("run-1", [{ role: "user", text: `also this\n\n${referenceLine("f1")}` }]);
  await made.clock.advance(60_000);
  expect(made.api.count("followUp")).toBe(1);
  expect(made.store.get("chat:a").effects).toEqual([]);
});

test("an uncertain follow-up to an ended run that never had a conversation is sent", async () => {
  const made = setUp();
  made.api.add({ run_id: "run-1", state: "FAILED" });
  made.api.before = (call) => {
    if (call === "followUp" && made.api.count("followUp") === 1) throw new Refusal(timedOut);
  };
  await steer(made);
  // The run may continue with the message, so the bot waits for a while.
  expect(made.api.count("followUp")).toBe(1);
  await made.clock.advance(settlingMs);
  expect(made.api.count("followUp")).toBe(2);
});

test("a follow-up to a run that waits in an unknown state is not looked for without end", async () => {
  const triesFrom = async (ageMs: number): Promise<number> => {
    const made = setUp();
    made.api.add({ run_id: "run-1", state: "PAUSED" });
    made.api.before = (call) => {
      if (call === "followUp" && made.api.count("followUp") === 1) throw new Refusal(timedOut);
    };
    await steer(made, ageMs);
    await made.clock.advance(settlingMs);
    return made.api.count("followUp");
  };
  expect(await triesFrom(0)).toBe(1);
  expect(await triesFrom(10 * 60_000)).toBe(2);
});
