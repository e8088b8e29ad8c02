import { expect, test } from "vitest";
import type { FollowUpEffect } from "#core/effect.ts";
import {
  alice,
  at,
  comment,
  labelled,
  mention,
  octoAlice,
  place,
  reply,
  runAt,
  story,
} from "#test/support/core/story.ts";

const permit = (it: ReturnType<typeof story>) => it.done("permission", { permission: "write" });

test("a message from before the request is not a follow-up, however late it arrives", () => {
  const it = story();
  it.give(mention("fix it", { at: at(100), first: false }));
  it.performAll();
  expect(it.give(reply("the build is red", { at: at(90) }))).toBe("ignore");
  expect(it.give(reply("use the new parser", { at: at(110) }))).toBe("keep");
  expect(it.effects("follow-up")).toHaveLength(1);
});

test("a message from between two requests is a follow-up, even if the requests arrive in reverse order", () => {
  const it = story();
  it.give(mention("fix it", { at: at(100), first: false }));
  it.performAll();
  it.give(mention("run look at it", { at: at(50), first: false }));
  it.performAll();
  expect(it.thread().runs).toHaveLength(2);
  expect(it.give(reply("before both", { at: at(40) }))).toBe("ignore");
  expect(it.give(reply("use the new parser", { at: at(70) }))).toBe("keep");
});

test("a message from before a request that waits for a permission is not a follow-up either", () => {
  const it = story();
  it.give(labelled("agent", { at: at(100) }));
  expect(it.give(comment("older", { at: at(99) }))).toBe("ignore");
  expect(it.give(comment("newer", { at: at(101) }))).toBe("keep");
});

test.each(["reply", "mention"] as const)("a %s waits for the run that is still being attached", (kind) => {
  const it = story();
  it.give(comment("attach run-1", { mention: true, at: at(100) }));
  expect(it.give(comment("the build is red", { at: at(99) }))).toBe("ignore");
  expect(it.give(comment("use the new parser", { at: at(101), mention: kind === "mention" }))).toBe("keep");
  permit(it);
  it.done("hand-over", { taken: false });
  expect(it.give(comment("and the new lexer", { at: at(102) }))).toBe("keep");
  permit(it);
  expect(it.effects("follow-up")).toEqual([]);
  it.done("fetch", { run: runAt("INPROGRESS", 50) });
  expect(it.effects("follow-up").map(({ message }) => message.split("\n")[0])).toEqual([
    "use the new parser",
    "and the new lexer",
  ]);
});

test("a mention behind an attach waits for its run, also where another run never started", () => {
  const it = story();
  it.give(mention("fix it", { at: at(90) }));
  it.fails("create");
  it.give(mention("attach run-1", { at: at(100), first: false }));
  it.give(mention("use the new parser", { at: at(101), first: false }));
  it.give(reply("and the new lexer", { at: at(102) }));
  it.done("hand-over", { taken: false });
  it.done("fetch", { run: runAt("INPROGRESS", 50) });
  expect(it.thread().runs).toHaveLength(2);
  expect(it.effects("follow-up").map(({ message }) => message.split("\n")[0])).toEqual([
    "use the new parser",
    "and the new lexer",
  ]);
});

test("an attach that fails for long holds up what follows it for half a minute at most", () => {
  const it = story();
  it.give(mention("attach run-1", { at: at(100) }));
  it.give(mention("run fix it", { at: at(101), first: false }));
  for (let failures = 0; it.effects("hand-over").length > 0 && failures < 10; failures += 1) {
    expect(it.thread().runs).toEqual([]);
    it.fails("hand-over", {
      certainty: "not-sent",
      retryable: true,
      reason: "The command could not be saved.",
    });
    it.wait(10);
  }
  expect(it.said("tell")[0]).toContain("The command could not be saved.");
  expect(it.thread().runs.map(({ asked }) => asked)).toEqual(["fix it"]);
});

test("a reply that waited for a run which does not exist is decided anew if it comes again", () => {
  const it = story();
  it.give(mention("attach run-1", { at: at(100) }));
  const early = reply("use the new parser", { at: at(101) });
  expect(it.give(early)).toBe("keep");
  it.done("hand-over", { taken: false });
  it.done("fetch", { run: null });
  expect(it.thread().waiting).toEqual([]);
  expect(it.give(early)).toBe("ignore");
});

test("a reply behind a request that is refused goes to the run of an earlier request that comes late", () => {
  const it = story();
  it.give(labelled("agent", { at: at(100) }));
  const early = comment("use the new parser", { at: at(101), by: { ...octoAlice, id: "bob" } });
  expect(it.give(early)).toBe("keep");
  const [first, second] = it.effects("permission");
  it.outcome(first?.id ?? "", { ok: true, kind: "permission", permission: "read" });
  it.outcome(second?.id ?? "", { ok: true, kind: "permission", permission: "write" });
  expect(it.thread().runs).toEqual([]);
  it.give(labelled("agent", { at: at(90), by: { ...octoAlice, id: "carol", permission: "write" } }));
  expect(it.give({ ...early, by: { ...early.by, permission: "write" } })).toBe("keep");
  expect(it.effects("follow-up")).toHaveLength(1);
});

test("a message from a muted time is not sent to the agent after `unmute`", () => {
  const it = story();
  it.give(mention("fix it", { at: at(0) }));
  it.performAll();
  it.give(mention("mute", { at: at(10), first: false }));
  it.give(mention("unmute", { at: at(30), first: false }));
  expect(it.give(reply("between us", { at: at(20) }))).toBe("ignore");
  expect(it.give(reply("for the agent", { at: at(40) }))).toBe("keep");
});

test.each([
  ["read back after it was delivered", [{}, { recovered: true }]],
  ["delivered after it was read back", [{ recovered: true }, {}]],
] as const)("a label %s starts one run", (_, ways) => {
  const it = story();
  for (const [index, way] of ways.entries()) {
    it.give(labelled("agent", { ...way, at: at(100 + index) }));
    if (it.effects("permission").length > 0) permit(it);
    it.performAll();
    it.run("SUCCEEDED", 200);
    it.performAll();
  }
  expect(it.thread().runs).toHaveLength(1);
});

test("a label that is added again, within the minute or much later, starts another run", () => {
  const it = story();
  for (const seconds of [100, 110, 9_000]) {
    it.give(labelled("agent", { at: at(seconds) }));
    it.performAll();
    it.run("SUCCEEDED", seconds + 5, { run_id: it.thread().runs.at(-1)?.runId ?? "" });
    it.performAll();
  }
  expect(it.thread().runs).toHaveLength(3);
});

const started = () => {
  const it = story();
  it.give(mention("fix it"));
  it.performAll();
  return it;
};

/**
 * Delivers an unchanged SUCCEEDED after the settling deadline; `followUps` as in `RunEvent`.
 */
const settle = (it: ReturnType<typeof story>, followUps: number) =>
  it.give({ kind: "run", run: runAt("SUCCEEDED", 10), followUps });

test("after a follow-up, an end that may predate it is reported, and so is the next one", () => {
  const it = started();
  it.run("INPROGRESS", 8);
  it.give(reply("one more thing"));
  it.done("follow-up", {});
  it.run("SUCCEEDED", 9);
  it.performAll();
  expect(it.settled()).toBe(false);
  it.run("INPROGRESS", 10);
  it.run("BLOCKED", 12);
  expect(it.effects("answer").map(({ run }) => run.state)).toEqual(["BLOCKED"]);
});

test.each([
  ["nothing is told if the agent has written nothing", null, []],
  ["an answer in the second of the end before it is told", "And the docs.", [/And the docs/]],
])(
  "a run that seems not to change after a follow-up is over at the settling deadline: %s",
  (_, text, told) => {
    const it = started();
    it.run("SUCCEEDED", 10);
    it.performAll();
    it.give(reply("one more thing"));
    it.run("SUCCEEDED", 10);
    it.done("follow-up", {});
    // A snapshot from a request that began before the follow-up.
    it.run("SUCCEEDED", 10);
    it.performAll();
    expect(it.thread().runs[0]?.open).toBe(true);
    settle(it, 1);
    expect(it.effects("answer")).toMatchObject([{ reported: "perhaps" }]);
    it.done("answer", { text, answered: text === null ? 2 : 4 });
    expect(it.said("reply")).toEqual(told.map((words) => expect.stringMatching(words)));
    it.performAll();
    expect(it.settled()).toBe(true);
  },
);

test("an answer that appears only after its end was reported is told alone", () => {
  const it = started();
  it.run("SUCCEEDED", 5);
  it.performAll();
  it.give(reply("one more thing"));
  it.done("follow-up", {});
  it.run("SUCCEEDED", 10);
  it.done("answer", { text: "Fixed.", answered: 4 });
  it.performAll();
  settle(it, 1);
  expect(it.effects("answer")).toMatchObject([{ reported: "yes" }]);
  it.done("answer", { text: "And the docs.", answered: 6 });
  expect(it.said("reply")).toEqual([expect.stringMatching(/The agent's answer came late:.*And the docs/s)]);
  expect(it.said("reply").join()).not.toContain("succeeded");
  it.performAll();
  expect(it.settled()).toBe(true);
});

test("a snapshot from before a follow-up does not settle the run", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  it.performAll();
  it.give(reply("one more thing"));
  it.done("follow-up", {});
  it.performAll();
  it.give(reply("and another"));
  it.done("follow-up", {});
  it.performAll();
  settle(it, 1);
  expect(it.thread().runs[0]?.open).toBe(true);
  it.run("SUCCEEDED", 20);
  expect(it.effects("answer")).toHaveLength(1);
});

test("a snapshot from before a follow-up without a message to react to does not settle the run either", () => {
  const followUp: FollowUpEffect = {
    kind: "follow-up",
    id: "f1",
    to: "agent-runs",
    dispatch: "d1",
    message: "go on",
    from: { place, by: alice },
    since: at(0),
    tries: 0,
  };
  const it = started();
  it.run("SUCCEEDED", 10);
  it.performAll();
  for (const { dispatch } of it.thread().runs) it.load({ effects: [{ ...followUp, dispatch }] });
  it.outcome("f1", { ok: true, kind: "follow-up" });
  for (const { dispatch } of it.thread().runs) it.load({ effects: [{ ...followUp, id: "f2", dispatch }] });
  it.performAll();
  settle(it, 1);
  expect(it.thread().runs[0]).toMatchObject({ open: true, followUps: 2 });
});

test("a run with a pending follow-up gets a new settling deadline", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  it.performAll();
  it.give(reply("one more thing"));
  it.performAll();
  it.give(reply("and another"));
  it.wait(90);
  settle(it, 1);
  expect(it.thread().runs[0]).toMatchObject({ open: true, settlesAt: at(180) });
});

test("follow-ups are counted on a record that was saved before they were counted", () => {
  const it = started();
  const [record] = it.thread().runs;
  if (record === undefined) throw new Error("there is no run");
  const { followUps: _, settlesAt: __, ...old } = record;
  it.load({ runs: [{ ...old, reopened: true }] });
  it.run("SUCCEEDED", 10);
  it.performAll();
  settle(it, 0);
  it.performAll();
  expect(it.settled()).toBe(true);
  it.give(reply("one more thing"));
  it.done("follow-up", {});
  expect(it.thread().runs[0]).toMatchObject({ open: true, followUps: 1, settlesAt: at(90) });
});
