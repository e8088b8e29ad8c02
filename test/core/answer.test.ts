import { expect, test } from "vitest";
import { answerOf, type TranscriptMessage } from "#core/answer.ts";

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
const user = (text: string, seconds?: number): TranscriptMessage => ({
  role: "user",
  text,
  ...(seconds === undefined ? {} : { at: at(seconds) }),
});
const agent = (text: string, seconds?: number): TranscriptMessage => ({
  ...user(text, seconds),
  role: "assistant",
});

test.each<[string, TranscriptMessage[], string | null]>([
  ["is the last text that is not blank", [user("go"), agent("one"), agent("two"), agent(" ")], "two"],
  ["is null without a conversation", [], null],
  ["is null where the agent wrote nothing", [user("go")], null],
  ["never comes from an earlier turn", [user("go"), agent("one"), user("on"), agent("")], null],
  [
    "is not taken from the turn before a cancelled one",
    [user("go", 1), agent("one", 2), user("on", 3)],
    null,
  ],
  [
    "leaves out a turn that began after the end",
    [user("go", 1), agent("one", 2), user("on", 20), agent("two", 21)],
    "one",
  ],
  [
    "leaves out a turn that was asked for before the end and answered after it",
    [user("go", 1), agent("one", 2), user("on", 3), agent("two", 21)],
    "one",
  ],
  [
    "may be stored a moment after the end",
    [user("go", 1), agent("one", 2), user("on", 3), agent("two", 10.3)],
    "two",
  ],
  [
    "is the last one if the clock was set back before it",
    [user("go", 101), agent("one", 102), user("on", 120), agent("two", 9)],
    "two",
  ],
  [
    "is the last one if the clock was set ahead before the turn, and back after it began",
    [user("go", 1), agent("one", 2), user("on", 120), agent("two", 121), user("and", 8), agent("three", 9)],
    "three",
  ],
])("the answer %s", (_, messages, expected) => {
  expect(answerOf(messages, at(10))).toBe(expected);
});

test("an end rounded to whole seconds includes messages of that second", () => {
  expect(answerOf([user("go", 1), user("on", 10.5), agent("two", 10.6)], at(10))).toBe("two");
  expect(answerOf([user("go", 1), agent("one", 2), user("on", 10.5), agent("two", 10.6)], at(10.1))).toBe(
    "one",
  );
});

test("an answer from before the end that was reported before belongs to that end", () => {
  const one = [user("go", 1), agent("one", 2)];
  expect(answerOf(one, at(10), at(2))).toBeNull();
  expect(answerOf(one, at(10), at(1))).toBeNull();
  expect(answerOf([...one, agent("two", 9)], at(10), at(2))).toBe("two");
  expect(answerOf([...one, user("on", 2.1), agent("two", 2.2)], at(10), at(2.05))).toBe("two");
  // A clock that was set back, or that is unknown, shows no order.
  expect(answerOf(one, at(10), at(12))).toBe("one");
  expect(answerOf([user("go"), agent("one")], at(10), at(2))).toBe("one");
});
