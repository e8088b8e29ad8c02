import { expect, test } from "vitest";
import { reply } from "#test/support/core/story.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";
import { started } from "./started.ts";

/** Lets the run take follow-ups: each turn ends after `turnMs` with an answer of its own. */
function takeTurns(it: Awaited<ReturnType<typeof started>>, turnMs: number, endState: (n: number) => string) {
  const { api, clock } = it;
  const stamp = () => new Date(clock.now()).toISOString();
  const answers: string[] = [];
  const say = (role: "user" | "assistant", text: string) =>
    api.conversations.set("run-1", [...(api.conversations.get("run-1") ?? []), { role, text, at: stamp() }]);
  let isAtWork = false;
  const work = () => {
    isAtWork = true;
    api.turn("run-1", "INPROGRESS");
    clock.after(turnMs, () => {
      const answer = `answer ${answers.length + 1}.`;
      answers.push(answer);
      say("assistant", answer);
      api.turn("run-1", endState(answers.length));
      isAtWork = false;
    });
  };
  api.followUp = (_, { message }) => {
    say("user", message);
    if (!isAtWork) work();
    return Promise.resolve(undefined);
  };
  say("user", "fix it");
  work();
  return answers;
}

test.each([500, 1_500, 2_500, 4_000, 9_000])(
  "every end is told while follow-ups meet rate limits, with turns of %i ms",
  async (turnMs) => {
    for (const ends of [() => "SUCCEEDED", () => "BLOCKED", (n: number) => (n % 2 ? "BLOCKED" : "FAILED")]) {
      const it = await started("INPROGRESS");
      const answers = takeTurns(it, turnMs, ends);
      const take = it.api.followUp.bind(it.api);
      let tries = 0;
      it.api.followUp = (runId, request) => {
        tries += 1;
        if (tries % 2 === 1) {
          const limit = { status: 429, retryable: true, retryAfterMs: 3_000 };
          return Promise.reject(new Refusal(limit));
        }
        return take(runId, request);
      };
      for (let n = 0; n < 12; n += 1) {
        await it.engine.accept(reply(`message ${n}`));
        await it.clock.advance(1_100);
      }
      await it.clock.advance(10 * 60_000);
      const told = it.replies().map((text) => /answer \d+\./.exec(text)?.[0]);
      expect(told).toEqual(answers);
    }
  },
);

test.each([
  ["soon", 5_000],
  ["late", 45_000],
  ["later than the settling time", 100_000],
])("every end is told though follow-ups break off after they were taken, and show %s", async (_, lagMs) => {
  for (const turnMs of [500, 3_000, 20_000, 70_000]) {
    for (const ends of [() => "SUCCEEDED", () => "BLOCKED", (n: number) => (n % 2 ? "BLOCKED" : "FAILED")]) {
      const it = await started("INPROGRESS");
      const answers = takeTurns(it, turnMs, ends);
      const take = it.api.followUp.bind(it.api);
      it.api.followUp = async (runId, request) => {
        await take(runId, request);
        throw new Refusal({ certainty: "unknown", retryable: true });
      };
      const { messages } = it.api;
      it.api.messages = async (runId) => {
        const until = it.clock.now() - lagMs;
        const said = (await messages.call(it.api, runId)) ?? [];
        return said.filter(({ at }) => Date.parse(at ?? "") <= until);
      };
      await it.clock.advance(turnMs + 60_000);
      for (let n = 0; n < 3; n += 1) {
        await it.engine.accept(reply(`message ${n}`));
        await it.clock.advance(turnMs * 1.5);
      }
      await it.clock.advance(20 * 60_000);
      expect({ turnMs, told: it.told() }).toEqual({ turnMs, told: answers.length });
    }
  }
});

test("an end after a follow-up that a killed process sent is told", async () => {
  for (const state of ["SUCCEEDED", "BLOCKED"]) {
    const it = await started("INPROGRESS");
    takeTurns(it, 3_000, () => state);
    const take = it.api.followUp.bind(it.api);
    it.api.followUp = async (runId, request) => {
      await take(runId, request);
      return new Promise(() => {});
    };
    await it.clock.advance(10_000);
    expect(it.told()).toBe(1);
    await it.engine.accept(reply("one more thing"));
    await it.clock.advance(100);
    // The killed process does nothing more.
    it.store.broken = new Error("killed");
    void it.engine.stop();
    await it.clock.advance(30_000);
    it.store.broken = null;
    await it.newEngine().start();
    await it.clock.advance(60_000);
    expect(it.told()).toBe(2);
  }
});
