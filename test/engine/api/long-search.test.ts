/** Searches for a run among more others than one try reads. */
import { beforeEach, expect, test } from "vitest";
import { create, type SetUp, setUp } from "#test/support/engine/set-up.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";

const timedOut = {
  certainty: "unknown",
  retryable: true,
  reason: "The API did not answer in time.",
} as const;
/** Enough for several tries after the settling time. */
const longMs = 6 * 60_000;
const others = 120;

let made: SetUp;
beforeEach(() => {
  made = setUp();
  made.api.pageSize = 1;
  // They are newer than the run.
  for (let n = 0; n < others; n += 1) {
    made.api.add({ run_id: `other-${n}`, created_at: "2026-01-01T00:01:00Z" });
  }
});

const runId = (): string | null | undefined => made.store.get("chat:a").runs[0]?.runId;

/** Asks for a run; the first create has the outcome of a time-out, and makes the run if `isMade`. */
async function dispatch(isMade: boolean): Promise<void> {
  const fails = (call: string): void => {
    if (call === "create" && made.api.count("create") === 1) throw new Refusal(timedOut);
  };
  if (isMade) made.api.afterwards = fails;
  else made.api.before = fails;
  await made.engine.start();
  await made.ask("chat:a", create("d1"));
  await made.clock.advance(10_000);
  expect(made.api.count("create")).toBe(1);
  expect(runId()).toBeNull();
}

test("a run behind more runs than one try reads is found by the tries after it", async () => {
  await dispatch(true);
  await made.clock.advance(longMs);
  expect(made.api.count("create")).toBe(1);
  expect(runId()).toBe(`run-${others + 1}`);
});

test("a run that was never made is made after all the others were read, whatever fails meanwhile", async () => {
  const list = made.api.list.bind(made.api);
  const failing = new Set(["50", "110"]);
  const read = new Set<string | undefined>();
  let isSettled = false;
  made.api.list = async ({ cursor, ...query }) => {
    if (isSettled && failing.delete(cursor ?? "")) throw new Refusal({ retryable: true });
    if (isSettled) read.add(cursor);
    return list(cursor === undefined ? query : { ...query, cursor });
  };
  await dispatch(false);
  await made.clock.advance(50_000);
  isSettled = true;
  await made.clock.advance(2 * longMs);
  expect(made.api.count("create")).toBe(2);
  expect(failing.size).toBe(0);
  expect(read.size).toBeGreaterThanOrEqual(others);
});

test("a search begins again if the service has forgotten how far it was", async () => {
  const list = made.api.list.bind(made.api);
  let forgets = true;
  made.api.list = async (query) => {
    if (query.cursor !== "100" || !forgets) return list(query);
    if (query.metadata === undefined) forgets = false;
    throw new Refusal({ status: 400 });
  };
  await dispatch(true);
  await made.clock.advance(2 * longMs);
  expect(forgets).toBe(false);
  expect(made.api.count("create")).toBe(1);
  expect(runId()).toBe(`run-${others + 1}`);
});

test("a run that was never made is made although the service takes seconds for each page", async () => {
  const list = made.api.list.bind(made.api);
  for (let n = 0; n < 40; n += 1) made.api.runs.delete(`other-${n}`);
  made.api.list = (query) =>
    new Promise((resolve) => {
      made.clock.after(2_500, () => resolve(list(query)));
    });
  await dispatch(false);
  await made.clock.advance(3 * longMs);
  expect(made.api.count("create")).toBe(2);
});

test("a search begins again if runs were shown twice, since the order of equal times may have hidden another", async () => {
  const list = made.api.list.bind(made.api);
  for (let n = 3; n < others; n += 1) made.api.runs.delete(`other-${n}`);
  let isSettled = false;
  let searches = 0;
  made.api.list = async (query) => {
    if (isSettled && query.cursor === undefined) searches += 1;
    const page = await list(query);
    const [first] = searches < 3 ? [...made.api.runs.values()] : page.runs;
    return { ...page, runs: first === undefined ? [] : [first] };
  };
  await dispatch(true);
  await made.clock.advance(50_000);
  isSettled = true;
  await made.clock.advance(longMs);
  expect(made.api.count("create")).toBe(1);
  expect(runId()).toBe("run-4");
});
