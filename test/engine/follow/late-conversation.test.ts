/** Runs whose conversation becomes readable some time after their ends. */
import { expect, test } from "vitest";
import { reply } from "#test/support/core/story.ts";
import { started } from "./started.ts";

type Started = Awaited<ReturnType<typeof started>>;

const stamp = ({ clock }: Started): string => new Date(clock.now()).toISOString();

/** Empties the conversation, and shows it `lagMs` late from now on. */
function showLate(it: Started, lagMs: number): void {
  it.api.conversations.set("run-1", []);
  const { messages } = it.api;
  it.api.messages = async (runId) => {
    const until = it.clock.now() - lagMs;
    const said = (await messages.call(it.api, runId)) ?? [];
    return said.filter(({ at }) => Date.parse(at ?? "") <= until);
  };
}

const say = (it: Started, role: "user" | "assistant", text: string): void =>
  void it.api.conversations.get("run-1")?.push({ role, text, at: stamp(it) });

/** Lets the run take each follow-up in a turn of its own, right after the turn before. */
function takeTurns(it: Started, turnMs: number, endState: string): string[] {
  const { api, clock } = it;
  const answers: string[] = [];
  let isAtWork = false;
  let waiting = 0;
  const work = (): void => {
    isAtWork = true;
    api.turn("run-1", "INPROGRESS");
    clock.after(turnMs, () => {
      answers.push(`answer ${answers.length + 1}.`);
      say(it, "assistant", answers.at(-1) ?? "");
      api.turn("run-1", endState);
      isAtWork = waiting > 0;
      if (!isAtWork) return;
      waiting -= 1;
      clock.after(1, work);
    });
  };
  api.followUp = async (_, { message }) => {
    say(it, "user", message);
    if (isAtWork) waiting += 1;
    else work();
  };
  say(it, "user", "fix it");
  work();
  return answers;
}

test.each(["SUCCEEDED", "BLOCKED"])(
  "the words of a first %s are told though they show late",
  async (state) => {
    const it = await started("INPROGRESS");
    showLate(it, 20_000);
    takeTurns(it, 1_000, state);
    await it.clock.advance(60_000);
    expect(it.replies()).toHaveLength(1);
    expect(it.replies()[0]).toContain("answer 1.");
  },
);

test.each(["SUCCEEDED", "BLOCKED", "FAILED"])(
  "after follow-ups whose turns end in %s one right after the other, the last answer is told",
  async (state) => {
    for (const lagMs of [0, 3_000, 8_000, 20_000]) {
      for (const turnMs of [700, 1_900, 5_000]) {
        const it = await started("INPROGRESS");
        showLate(it, lagMs);
        const answers = takeTurns(it, turnMs, state);
        await it.clock.advance(60_000);
        for (let n = 0; n < 3; n += 1) await it.engine.accept(reply(`message ${n}`));
        await it.clock.advance(20 * 60_000);
        const told = it.replies().map((text) => /answer \d+\./.exec(text)?.[0]);
        expect({ lagMs, turnMs, told: told.at(-1) }).toEqual({ lagMs, turnMs, told: answers.at(-1) });
        expect(new Set(told).size).toBe(told.length);
      }
    }
  },
);

test("an end is told soon where the conversation's format is not supported", async () => {
  const it = await started("INPROGRESS");
  it.api.messages = async () => null;
  it.api.turn("run-1", "SUCCEEDED");
  await it.clock.advance(10_000);
  expect(it.told()).toBe(1);
});
