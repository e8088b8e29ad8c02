import { expect, test } from "vitest";
import { at, comment, labelled, mention, reply, story } from "#test/support/core/story.ts";

const permit = (it: ReturnType<typeof story>) => it.done("permission", { permission: "write" });

test("what was said before the run was asked for is no follow-up, however late it is delivered", () => {
  const it = story();
  it.give(mention("fix it", { at: at(100), first: false }));
  it.performAll();
  expect(it.give(reply("the build is red", { at: at(90) }))).toBe("ignore");
  expect(it.give(reply("use the new parser", { at: at(110) }))).toBe("keep");
  expect(it.effects("follow-up")).toHaveLength(1);
});

test("an earlier request that comes after a later one makes what was said between them its follow-up", () => {
  const it = story();
  it.give(mention("fix it", { at: at(100), first: false }));
  it.performAll();
  it.give(mention("run look at it", { at: at(50), first: false }));
  it.performAll();
  expect(it.thread().runs).toHaveLength(2);
  expect(it.give(reply("before both", { at: at(40) }))).toBe("ignore");
  expect(it.give(reply("use the new parser", { at: at(70) }))).toBe("keep");
});

test("the same holds while the request still waits for a permission", () => {
  const it = story();
  it.give(labelled("agent", { at: at(100) }));
  expect(it.give(comment("older", { at: at(99) }))).toBe("ignore");
  expect(it.give(comment("newer", { at: at(101) }))).toBe("keep");
});

test("what was said while the thread was muted stays among people after it is unmuted", () => {
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
