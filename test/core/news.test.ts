import { expect, test } from "vitest";
import { identityOf, lostRun, passedUntil, settlesAfter, settlesInMs, standingOf } from "#core/news.ts";
import type { Run } from "#core/run.ts";
import type { RunRecord } from "#core/thread.ts";
import { at, runAt } from "#test/support/core/story.ts";
import { newRecord } from "#test/support/engine/small-decide.ts";

const record = (state: string | null, more: Partial<RunRecord> = {}): RunRecord =>
  newRecord("d1", { runId: "run-1", run: state === null ? null : runAt(state, 10), ...more });
const nowMs = Date.parse(at(100));

test("a run's first snapshot and a later change are newer", () => {
  expect(standingOf(record(null), runAt("QUEUED", 10))).toBe("newer");
  expect(standingOf(record("QUEUED"), runAt("INPROGRESS", 11))).toBe("newer");
  expect(standingOf(record("QUEUED"), runAt("QUEUED", 11))).toBe("newer");
});

test("an unchanged snapshot and a passed one are no news", () => {
  const passed = [identityOf(runAt("INPROGRESS", 9))];
  expect(standingOf(record("SUCCEEDED"), runAt("SUCCEEDED", 10))).toBe("same");
  expect(standingOf(record("SUCCEEDED", { passed }), runAt("INPROGRESS", 9))).toBe("passed");
});

test("an older snapshot that was not seen before is unclear", () => {
  for (const run of [runAt("SUCCEEDED", 9), runAt("SUCCEEDED", 10), runAt("INPROGRESS", 9)]) {
    expect(standingOf(record("INPROGRESS"), run)).toBe("unclear");
  }
});

test("a time that is written in another way makes no other snapshot", () => {
  const run = { state: "QUEUED", updated_at: "2026-01-01T01:00:10+01:00" };
  expect(standingOf(record("QUEUED"), run)).toBe("same");
});

test("a record keeps the last few identities that its run has passed, its present one not among them", () => {
  let kept = record("QUEUED");
  const go = (run: Run) => {
    kept = { ...kept, passed: passedUntil(kept, run), run };
  };
  for (let second = 11; second < 40; second += 1) go(runAt("INPROGRESS", second));
  expect(kept.passed).toHaveLength(8);
  expect(standingOf(kept, runAt("INPROGRESS", 38))).toBe("passed");
  go(runAt("INPROGRESS", 38));
  expect(standingOf(kept, runAt("INPROGRESS", 38))).toBe("same");
  expect(standingOf(kept, runAt("INPROGRESS", 39))).toBe("passed");
  expect(kept.passed).not.toContain(identityOf(runAt("INPROGRESS", 38)));
});

test("an end or a BLOCKED that may predate a follow-up settles at its deadline", () => {
  const settlesAt = settlesAfter(nowMs);
  expect(settlesInMs(record("SUCCEEDED", { settlesAt }), nowMs + 1_000)).toBe(89_000);
  expect(settlesInMs(record("BLOCKED", { settlesAt, reopened: true }), nowMs + 100_000)).toBe(0);
});

test("nothing settles while the run is at work, waits for people, or is over", () => {
  const settlesAt = settlesAfter(nowMs);
  expect(settlesInMs(record("INPROGRESS", { settlesAt, reopened: true }), nowMs)).toBeNull();
  expect(settlesInMs(record("BLOCKED", { settlesAt }), nowMs)).toBeNull();
  expect(settlesInMs(record("SUCCEEDED", { settlesAt, open: false }), nowMs)).toBeNull();
  expect(settlesInMs(record(null, { settlesAt, reopened: true }), nowMs)).toBeNull();
});

test("the settling time is never longer than its full length, after a clock was set back or without a deadline", () => {
  const settlesAt = settlesAfter(nowMs);
  expect(settlesInMs(record("SUCCEEDED", { settlesAt }), nowMs - 3_600_000)).toBe(90_000);
  expect(settlesInMs(record("SUCCEEDED"), nowMs)).toBe(90_000);
});

test("a run that the API no longer knows ends in an ERROR that is news, whatever the clocks say", () => {
  for (const known of [record(null), record("INPROGRESS")]) {
    for (const now of [Date.parse(at(1)), nowMs]) {
      const lost = lostRun(known, "run-1", now);
      expect(lost).toMatchObject({ run_id: "run-1", state: "ERROR" });
      expect(standingOf(known, lost)).toBe("newer");
    }
  }
});
