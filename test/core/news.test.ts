import { expect, test } from "vitest";
import { isNews, lostRun, settlesAfter, settlesInMs } from "#core/news.ts";
import type { RunRecord } from "#core/thread.ts";
import { at, runAt } from "#test/support/core/story.ts";
import { newRecord } from "#test/support/engine/small-decide.ts";

const record = (state: string | null, more: Partial<RunRecord> = {}): RunRecord =>
  newRecord("d1", { runId: "run-1", run: state === null ? null : runAt(state, 10), ...more });
const nowMs = Date.parse(at(100));

test("a run's first snapshot, a new state and a later change are news", () => {
  expect(isNews(record(null), runAt("QUEUED", 10), false)).toBe(true);
  expect(isNews(record("QUEUED"), runAt("INPROGRESS", 10), false)).toBe(true);
  expect(isNews(record("QUEUED"), runAt("QUEUED", 11), false)).toBe(true);
});

test("an unchanged snapshot and an older one are no news", () => {
  expect(isNews(record("SUCCEEDED"), runAt("SUCCEEDED", 10), false)).toBe(false);
  expect(isNews(record("SUCCEEDED"), runAt("INPROGRESS", 9), false)).toBe(false);
});

test("after the settling deadline an unchanged end is news, an older snapshot is not", () => {
  expect(isNews(record("SUCCEEDED"), runAt("SUCCEEDED", 10), true)).toBe(true);
  expect(isNews(record("SUCCEEDED"), runAt("INPROGRESS", 9), true)).toBe(false);
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
      expect(isNews(known, lost, false)).toBe(true);
    }
  }
});
