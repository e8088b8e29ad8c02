import { expect, test } from "vitest";
import { answerOf, missedAnswer, saidUntil, type TranscriptMessage } from "#core/answer.ts";

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
  ["never comes from an earlier turn", [user("go"), agent("one"), user("on"), agent("")], ""],
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
    "of the first turn counts although the clock was set back since the last question",
    [user("go", 100), user("on", 101), agent("one", 9)],
    "one",
  ],
  [
    "leaves out a follow-up to a turn that ended without words",
    [user("go", 1), user("on", 20), agent("two", 21)],
    null,
  ],
  [
    "counts although the clock was set back between its question and it",
    [user("go", 1), agent("", 2), user("on", 130), agent("two", 10)],
    "two",
  ],
  [
    "may be stored a moment after the end",
    [user("go", 1), agent("one", 2), user("on", 3), agent("two", 10.3)],
    "two",
  ],
])("the answer %s", (_, messages, expected) => {
  expect(answerOf(messages, { endedAt: at(10) }).text).toBe(expected);
});

test("an end rounded to whole seconds includes messages of that second", () => {
  const textAt = (messages: TranscriptMessage[], endedAt: string) => answerOf(messages, { endedAt }).text;
  expect(textAt([user("go", 1), user("on", 10.5), agent("two", 10.6)], at(10))).toBe("two");
  expect(textAt([user("go", 1), agent("one", 2), user("on", 10.5), agent("two", 10.6)], at(10.1))).toBe(
    "one",
  );
});

test("what an earlier report covered is no answer to a later end, whatever the times", () => {
  const first = [user("go", 1), agent("one", 2)];
  const { answered } = answerOf(first, { endedAt: at(3) });
  expect(answered).toBe(2);
  expect(answerOf(first, { endedAt: at(10), answered })).toEqual({ text: null, answered: 2 });
  expect(answerOf([], { endedAt: at(10), answered })).toEqual({ text: null, answered });
  for (const seconds of [undefined, -50, 2, 9, 90]) {
    const asked = [...first, user("on", seconds)];
    expect(answerOf(asked, { endedAt: at(10), answered }).text).toBeNull();
    const both = [...asked, agent("two", seconds)];
    expect(answerOf(both, { endedAt: at(10), answered })).toEqual({ text: "two", answered: 4 });
  }
  // Without a follow-up too: somebody approved elsewhere.
  expect(answerOf([...first, agent("two", 9)], { endedAt: at(10), answered }).text).toBe("two");
});

test("a turn in which the agent has only acted counts as reported", () => {
  const acted = [user("go", 1), agent("one", 2), user("on", 3), agent("", 4)];
  expect(answerOf(acted, { endedAt: at(4), answered: 2 })).toEqual({ text: "", answered: 4 });
  expect(answerOf(acted, { endedAt: at(4), answered: 4, silentAt: at(4) })).toEqual({
    text: null,
    answered: 4,
  });
});

test("an answer from before an end that was reported without one belongs to that end", () => {
  const one = [user("go", 1), agent("one", 2)];
  const textAfter = (messages: TranscriptMessage[], silentAt: string) =>
    answerOf(messages, { endedAt: at(10), silentAt }).text;
  expect(textAfter(one, at(2))).toBeNull();
  expect(textAfter(one, at(1))).toBeNull();
  expect(textAfter([...one, agent("two", 9)], at(2))).toBe("two");
  expect(textAfter([...one, user("on", 2.1), agent("two", 2.2)], at(2.05))).toBe("two");
  // A clock that was set back, or that is unknown, shows no order, but a message can't be later than its end.
  expect(textAfter(one, at(12))).toBe("one");
  expect(textAfter([user("go", 200), agent("one", 240)], at(240))).toBeNull();
  expect(textAfter([user("go"), agent("one")], at(2))).toBe("one");
});

test("what was shown when an end was reported without an answer is no answer to a later end, whatever the times", () => {
  const silent = [user("go", 121), agent("one", 125), user("on", 239)];
  const { text, answered } = answerOf(silent, { endedAt: at(260) });
  expect({ text, answered }).toEqual({ text: null, answered: 3 });
  // The clock is set back by four minutes.
  const textAt = (messages: TranscriptMessage[]) =>
    answerOf([...silent, ...messages], { endedAt: at(172), answered, silentAt: at(260), isCurrent: true })
      .text;
  expect(textAt([])).toBeNull();
  expect(textAt([agent("", 260)])).not.toBe("one");
  expect(textAt([agent("", 260), user("more", 172), agent("three", 172)])).toBe("three");
});

test("an end that is seen only after a later one was reported has the answer of its time", () => {
  const spoken = [user("go", 1), agent("one", 10), user("on", 12), agent("two", 20)];
  expect(missedAnswer(spoken, at(10), 4)).toBe("one");
  expect(missedAnswer([user("go", 1), agent("", 10), ...spoken.slice(2)], at(10), 4)).toBe("");
  // Turns may take less than a second.
  const quick = [user("go", 1), agent("one", 10), user("on", 10.1), agent("two", 10.3)];
  expect(missedAnswer(quick, at(10.4), 4)).toBeNull();
  // The last answer was reported, and a touch of its end is no end.
  expect(missedAnswer(spoken, at(20), 4)).toBeNull();
  expect(missedAnswer(spoken, at(15), 4)).toBeNull();
});

test("what was reported before the clock was set back is not later than an end after that", () => {
  const spoken = [user("go", 98), agent("one", 100), user("on", 101), agent("two", 12)];
  expect(saidUntil(spoken, at(12), 2)).toEqual(spoken);
  expect(saidUntil([...spoken, user("more", 13), agent("three", 20)], at(12), 2)).toHaveLength(5);
});

test("the clock was set back between two turns: the run's being still in that end tells which is its own", () => {
  const spoken = [user("go", 98), agent("one", 100), user("on", 101), agent("two", 12)];
  for (const endedAt of [at(12), at(100)]) {
    expect(answerOf(spoken, { endedAt, isCurrent: true })).toEqual({ text: "two", answered: 4 });
    expect(answerOf(spoken, { endedAt, isCurrent: false })).toEqual({ text: "one", answered: 2 });
  }
});

test("an answer that appears late to a question from before the clock was set back belongs to its own end", () => {
  const asked = [user("go", 100), user("also", 101)];
  const late = [...asked, agent("one", 9)];
  for (const shown of [asked, asked.slice(0, 1), []]) {
    const { answered } = answerOf(shown, { endedAt: at(9) });
    expect(answered).toBe(shown.length);
    const textAt = (messages: TranscriptMessage[]) =>
      answerOf(messages, { endedAt: at(97), answered, silentAt: at(9) }).text;
    expect(textAt(late)).toBeNull();
    expect(textAt([...late, user("on", 97), agent("two", 97)])).toBe("two");
  }
});

test("a follow-up that was sent after the end was seen begins a later turn, whatever the times", () => {
  const isLater = (text: string) => text === "on";
  for (const seconds of [undefined, -50, 2, 9, 90]) {
    const spoken = [user("go", 1), agent("one", 2), user("on", seconds), agent("two", seconds)];
    expect(answerOf(spoken, { endedAt: at(10), isLater })).toEqual({ text: "one", answered: 2 });
    expect(answerOf(spoken.toSpliced(1, 1), { endedAt: at(10), isLater })).toEqual({
      text: null,
      answered: 1,
    });
  }
});
