/** The API asks for long waits: nothing is dropped for them, and people see why they wait. */
import { expect, test } from "vitest";
import { mention, reply } from "#test/support/core/story.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";
import { wholeEngine } from "#test/support/engine/whole-engine.ts";

const minute = 60_000;
const longerThanRetries = 48 * 60 * minute;
const limit = { status: 429, retryable: true, retryAfterMs: 10 * minute, reason: "Too many requests." };

test("a follow-up outlasts a limit on everything", async () => {
  const { api, engine, clock, slack } = wholeEngine();
  await engine.start();
  await engine.accept(mention("fix it"));
  await clock.advance(2_000);
  api.before = () => {
    throw new Refusal(limit);
  };
  await engine.accept(reply("with the new parser"));
  await clock.advance(longerThanRetries);
  api.before = () => {};
  await clock.advance(60 * minute);
  expect(api.conversations.get("run-1")).toHaveLength(1);
  expect(slack.tries.filter(({ effect }) => effect.kind === "tell")).toEqual([]);
});

test("an uncertain create outlasts a limit on everything", async () => {
  const { api, engine, clock, slack } = wholeEngine();
  await engine.start();
  api.before = () => {
    throw new Refusal(api.calls.length === 1 ? { certainty: "unknown", retryable: true } : limit);
  };
  await engine.accept(mention("fix it"));
  await clock.advance(longerThanRetries);
  api.before = () => {};
  await clock.advance(60 * minute);
  expect(api.runs.size).toBe(1);
  expect(slack.tries.filter(({ effect }) => effect.kind === "reply")).toEqual([]);
});

test("a long wait that the API asks for is shown at once", async () => {
  const { api, engine, clock, slack } = wholeEngine();
  await engine.start();
  api.afterwards = () => {
    throw new Refusal({ certainty: "unknown", retryable: true, status: 503, retryAfterMs: 5 * minute });
  };
  await engine.accept(mention("fix it"));
  await clock.advance(10_000);
  const cards = slack.tries.flatMap(({ effect }) =>
    effect.kind === "card" ? [JSON.stringify(effect.view)] : [],
  );
  expect(cards.at(-1)).toContain("Waiting");
});
