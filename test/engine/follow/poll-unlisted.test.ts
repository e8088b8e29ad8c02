import { expect, test } from "vitest";
import { type SetUp, setUp } from "#test/support/engine/set-up.ts";
import { newRecord, newThread } from "#test/support/engine/small-decide.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";

function follow(made: SetUp, runId: string, name: string | null, listedAs: string | null = name): void {
  // Each a little later than the one before, like real runs.
  const updated_at = new Date(made.clock.now() - 60_000 + made.api.runs.size * 10).toISOString();
  made.api.add({ run_id: runId, agent_config: { name: listedAs }, updated_at });
  made.store.put(newThread(`chat:${runId}`, { runs: [newRecord(`d-${runId}`, { runId, name })] }));
}

const stateOf = (made: SetUp, runId: string) => made.store.get(`chat:${runId}`).runs[0]?.run?.state;

test("runs that share another name are found with one list request", async () => {
  const made = setUp();
  for (let n = 0; n < 30; n += 1) follow(made, `x${n}`, "nightly");
  await made.engine.start();
  await made.clock.advance(10_000);
  made.api.turn("x7", "SUCCEEDED");
  await made.clock.advance(2_000);
  expect(stateOf(made, "x7")).toBe("SUCCEEDED");
  expect(made.api.count("fetch")).toBe(0);
  expect(new Set(made.api.queries.map(({ name }) => name))).toEqual(new Set(["nightly"]));
});

test("a single run of another name, and runs of no known name, are fetched", async () => {
  const made = setUp();
  follow(made, "lonely", "nightly");
  follow(made, "nameless", null);
  await made.engine.start();
  await made.clock.advance(2_000);
  for (const runId of ["lonely", "nameless"]) made.api.turn(runId, "SUCCEEDED");
  await made.clock.advance(10_000);
  expect([stateOf(made, "lonely"), stateOf(made, "nameless")]).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  expect(made.api.count("list")).toBe(0);
});

test("runs without a name are fetched in turn, a few at each tick", async () => {
  const made = setUp();
  for (let n = 0; n < 40; n += 1) follow(made, `n${n}`, null);
  await made.engine.start();
  await made.clock.advance(0);
  expect(made.api.count("fetch")).toBeLessThanOrEqual(5);
  await made.clock.advance(20_000);
  for (let n = 0; n < 40; n += 1) expect(stateOf(made, `n${n}`)).toBe("QUEUED");
});

test("runs that lists of their name omit are searched for, then fetched", async () => {
  const made = setUp();
  follow(made, "shown", "bot");
  follow(made, "hidden-1", "bot", "a skill's name");
  follow(made, "hidden-2", "bot", "a skill's name");
  await made.engine.start();
  await made.clock.advance(25_000);
  expect(made.api.count("fetch")).toBe(0);
  await made.clock.advance(15_000);
  // A list of all runs of the name came first; only the run that it omitted was fetched.
  expect(made.api.queries.filter(({ created_after }) => created_after !== undefined)).toHaveLength(1);
  expect(stateOf(made, "hidden-1")).toBe("QUEUED");
  made.api.turn("hidden-1", "SUCCEEDED");
  made.api.turn("hidden-2", "BLOCKED");
  await made.clock.advance(60_000);
  expect([stateOf(made, "hidden-1"), stateOf(made, "hidden-2")]).toEqual(["SUCCEEDED", "BLOCKED"]);
});

test("runs are followed even if the API's filter shows no changes at all", async () => {
  const made = setUp();
  for (const runId of ["a", "b", "c"]) follow(made, runId, "bot");
  const list = made.api.list.bind(made.api);
  made.api.list = async (query) =>
    query.updated_after === undefined
      ? list(query)
      : list({ ...query, updated_after: "2999-01-01T00:00:00Z" });
  await made.engine.start();
  await made.clock.advance(60_000);
  for (const runId of ["a", "b", "c"]) made.api.turn(runId, "SUCCEEDED");
  await made.clock.advance(5 * 60_000);
  for (const runId of ["a", "b", "c"]) expect(stateOf(made, runId)).toBe("SUCCEEDED");
});

test("unchanged runs are searched for less and less often", async () => {
  const made = setUp();
  for (let n = 0; n < 50; n += 1) follow(made, `q${n}`, "bot");
  follow(made, "busy", "bot");
  await made.engine.start();
  await made.clock.advance(20 * 60_000);
  // Lists of the latest changes no longer show the others.
  made.api.turn("busy", "INPROGRESS");
  await made.clock.advance(8 * 3_600_000);
  const everything = made.api.queries.filter(({ created_after }) => created_after !== undefined);
  expect(everything.length).toBeGreaterThan(3);
  expect(everything.length).toBeLessThan(16);
  expect(made.api.count("fetch")).toBe(0);
});

test("a run that the API does not know is fetched again, and given up after an hour", async () => {
  const made = setUp();
  follow(made, "gone", null);
  await made.engine.start();
  await made.clock.advance(2_000);
  made.api.runs.delete("gone");
  await made.clock.advance(55 * 60_000);
  expect(stateOf(made, "gone")).toBe("QUEUED");
  expect(made.api.count("fetch")).toBeLessThan(20);
  await made.clock.advance(30 * 60_000);
  const record = made.store.get("chat:gone").runs[0];
  expect(record).toMatchObject({ open: false, run: { state: "ERROR" } });
  expect(record?.run?.status_message?.message).toBe("The API no longer knows this run.");
  expect(made.engine.status().unfinishedRuns).toBe(0);
});

test("a listed run that disappears from the API is given up too", async () => {
  const made = setUp();
  follow(made, "gone", "bot");
  follow(made, "stays", "bot");
  await made.engine.start();
  await made.clock.advance(2_000);
  made.api.runs.delete("gone");
  await made.clock.advance(3 * 3_600_000);
  expect([stateOf(made, "gone"), stateOf(made, "stays")]).toEqual(["ERROR", "QUEUED"]);
});

test("a run that is missing for a while is followed again when it returns", async () => {
  const made = setUp();
  follow(made, "back", null);
  await made.engine.start();
  await made.clock.advance(2_000);
  const run = made.api.runs.get("back");
  made.api.runs.delete("back");
  await made.clock.advance(40 * 60_000);
  if (run !== undefined) made.api.runs.set("back", run);
  made.api.turn("back", "SUCCEEDED");
  await made.clock.advance(20 * 60_000);
  expect(stateOf(made, "back")).toBe("SUCCEEDED");
});

test("a run that the bot may not read does not delay others", async () => {
  const made = setUp();
  follow(made, "secret", null);
  follow(made, "ours", "bot");
  const fetch = made.api.fetch.bind(made.api);
  made.api.fetch = (runId) =>
    runId === "secret" ? Promise.reject(new Refusal({ status: 403, code: "not_authorized" })) : fetch(runId);
  await made.engine.start();
  await made.clock.advance(60_000);
  made.api.turn("ours", "SUCCEEDED");
  await made.clock.advance(5_000);
  expect(stateOf(made, "ours")).toBe("SUCCEEDED");
});

test("runs of another name that the API won't list are fetched", async () => {
  const made = setUp();
  follow(made, "a", "nightly");
  follow(made, "b", "nightly");
  made.api.before = (call) => {
    if (call === "list") throw new Refusal({ status: 400, code: "invalid_request" });
  };
  await made.engine.start();
  await made.clock.advance(0);
  expect([stateOf(made, "a"), stateOf(made, "b")]).toEqual(["QUEUED", "QUEUED"]);
});

test("if the API refuses to list the bot's own name, each of its runs is fetched", async () => {
  const made = setUp();
  for (const runId of ["a", "b"]) follow(made, runId, "bot");
  made.api.before = (call) => {
    if (call === "list") throw new Refusal({ status: 403, code: "not_authorized" });
  };
  await made.engine.start();
  await made.clock.advance(10_000);
  for (const runId of ["a", "b"]) made.api.turn(runId, "SUCCEEDED");
  await made.clock.advance(2 * 60_000);
  for (const runId of ["a", "b"]) expect(stateOf(made, runId)).toBe("SUCCEEDED");
});
