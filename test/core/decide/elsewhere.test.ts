import { expect, test } from "vitest";
import { dispatchKey, referenceLine, scopeKey } from "#core/run.ts";
import {
  channel,
  mention,
  place,
  press,
  reply,
  runAt,
  slash,
  story,
  words,
} from "#test/support/core/story.ts";

/** A run that failed in its thread. */
function failed() {
  const it = story();
  it.give(mention("fix it"));
  it.performAll();
  it.run("FAILED", 5);
  it.performAll();
  return it;
}

test("a retry from another place happens in the run's own thread, and the person gets a note", () => {
  const it = failed();
  const elsewhere = "slack:T1:C1:200.1";
  it.give(slash("retry run-1", { place: elsewhere }));
  expect(it.one("card").at).toBe(place);
  expect(it.one("tell").at).toBe(elsewhere);
  expect(words(it.one("tell").view)).toContain("Started the run again");
  it.performAll();
  expect(it.thread().places).toEqual([place]);
});

test("a retry by button posts only the new card", () => {
  const it = failed();
  const [record] = it.thread().runs;
  it.give(press("retry", record?.dispatch ?? ""));
  expect(it.effects("tell")).toEqual([]);
  expect(it.one("card").at).toBe(place);
});

test("a mention under a card whose place is not saved yet is redelivered, and begins no thread", () => {
  const it = story();
  expect(it.give(reply("and the docs", { mention: true, underOurs: true }))).toBe("again");
  expect(it.give(reply("fix it", { mention: true }))).toBe("keep");
});

test("a button is redelivered while its card may not be saved yet; later its card is out of date", () => {
  const early = story();
  expect(early.give(press("cancel", "d-1"))).toBe("again");
  const late = story();
  expect(late.give(press("cancel", "d-1", { old: true, answerVia: "https://slack.test/answer" }))).toBe(
    "keep",
  );
  expect(words(late.one("tell").view)).toContain("out of date");
  expect(late.thread().runs).toEqual([]);
});

test("a run of ours is not attached while its own thread may not know it yet", () => {
  for (const own of [
    { metadata: { [dispatchKey]: "slack:interaction:other", [scopeKey]: channel } },
    { metadata: {}, prompt: `fix it\n\n${referenceLine("slack:interaction:other")}` },
  ]) {
    const it = story();
    it.give(mention("attach run-1"));
    it.done("hand-over", { taken: false });
    it.done("fetch", { run: runAt("INPROGRESS", 3, own) });
    expect(it.thread().runs).toEqual([]);
    expect(it.said("tell").join()).toContain("followed in the thread where it was asked for");
  }
});

test("a run of ours that is too old to have a thread is attached", () => {
  const it = story();
  it.wait(25 * 3_600);
  it.give(mention("attach run-1"));
  it.done("hand-over", { taken: false });
  it.done("fetch", {
    run: runAt("INPROGRESS", 3, { metadata: { [dispatchKey]: "old", [scopeKey]: channel } }),
  });
  expect(it.thread().runs.map(({ runId }) => runId)).toEqual(["run-1"]);
});
