import { expect, test } from "vitest";
import { newRun } from "#service/run/new-run.ts";
import { turnInput } from "#service/turns/turn-input.ts";

const parts = { basePrompt: "", skill: null, attachmentsFolder: "/attachments" };

/** The agent's input in the second turn after this first answer. */
function secondInput(answer: string): string {
  const birth = { id: "run", order: 1, now: 0, sessionKey: "key", earlier: [] };
  const document = newRun({ prompt: "The first request" }, birth);
  const said = [
    { role: "user" as const, at: 0, turn: 1, text: "The first request" },
    { role: "assistant" as const, at: 0, turn: 1, text: answer },
    { role: "user" as const, at: 0, turn: 2, text: "go on" },
  ];
  return turnInput({ ...document, said, turn: 2 }, parts).input;
}

test("the agent gets the end of an answer that is longer than the limit", () => {
  const input = secondInput(`${"x".repeat(250_000)} and so it was done`);
  expect(input.length).toBeLessThan(201_000);
  expect(input).toMatch(
    /left out\.\)\n+<assistant>\n\(The beginning is left out\.\)\nx+ and so it was done\n/,
  );
  expect(input).not.toContain("The first request");
  expect(input.endsWith("go on\n")).toBe(true);
});

test("the agent gets the whole conversation within the limit", () => {
  const input = secondInput("y".repeat(150_000));
  expect(input).toMatch(/<user>\nThe first request\n<\/user>\n\n<assistant>\ny{150000}\n<\/assistant>/);
  expect(input).not.toContain("left out");
});
