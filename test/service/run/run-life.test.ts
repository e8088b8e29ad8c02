import { expect, test } from "vitest";
import { newRun } from "#service/run/new-run.ts";
import type { RunDocument } from "#service/run/run-document.ts";
import { begun, cancelled, followedUp, interrupted, turnEnded } from "#service/run/run-life.ts";

const queued = newRun({ prompt: "first" }, { id: "one", order: 1, now: 0, sessionKey: "k", earlier: [] });

function atWork(document: RunDocument): RunDocument {
  const next = begun(document, 10);
  if (next === null) throw new Error("it can't begin");
  return next;
}

const followUp = (document: RunDocument): RunDocument => followedUp(document, "second", 20, () => 2);

test("a run that is cancelled between two turns keeps the first answer once", () => {
  const between = turnEnded(followUp(atWork(queued)), 1, { kind: "answered", text: "done" }, 30);
  expect(between.run.state).toBe("INPROGRESS");
  const cancelling = cancelled(between, "done", 40);
  if (cancelling.kind !== "cancelled") throw new Error("it can't be cancelled");
  expect(cancelling.document.run).toMatchObject({ state: "CANCELLED", workedMs: 20 });
  expect(cancelling.document.said.map(({ text }) => text)).toEqual(["first", "done"]);
});

test("an interrupted run gets its waiting follow-ups with the next one", () => {
  const broken = interrupted(followUp(atWork(queued)), 30);
  expect(broken.run).toMatchObject({ state: "ERROR", statusMessage: { retryable: true } });
  expect(broken.run.statusMessage?.message).toContain("follow-up");
  const again = atWork(followedUp(broken, "third", 40, () => 3));
  expect(again.said.filter(({ turn }) => turn === 2).map(({ text }) => text)).toEqual(["second", "third"]);
});

test("a turn that ends after its run was cancelled and continued changes nothing", () => {
  const working = atWork(queued);
  const cancelling = cancelled(working, "so far", 20);
  if (cancelling.kind !== "cancelled") throw new Error("it can't be cancelled");
  const continued = followUp(cancelling.document);
  expect(turnEnded(continued, 1, { kind: "answered", text: "late" }, 50)).toBe(continued);
  const next = atWork(continued);
  expect(turnEnded(next, 1, { kind: "answered", text: "late" }, 50)).toBe(next);
});
