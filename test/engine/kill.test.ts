import { expect, test } from "vitest";
import type { PlatformEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { isSettled } from "#core/thread.ts";
import type { AgentRuns, Platform, Store, Transcripts } from "#ports.ts";
import { mention, place, reply } from "#test/support/core/story.ts";
import { success } from "#test/support/engine/stand-in-platform.ts";
import { wholeEngine } from "#test/support/engine/whole-engine.ts";

/** The world outside the bot, which survives a kill. */
function createWorld() {
  const posted: string[] = [];
  /** Posts a message; only an uncertain try searches for it first. */
  const post = (effect: PlatformEffect, uncertain: boolean): Outcome => {
    if (effect.kind === "reply" || effect.kind === "tell" || (effect.kind === "card" && !effect.message)) {
      if (!uncertain || !posted.includes(effect.id)) posted.push(effect.id);
    }
    return success(effect);
  };
  return { ...wholeEngine(), posted, post };
}
type World = ReturnType<typeof createWorld>;

/** A process of the bot that is killed at its `lastStep`th step; a step is any action or answer. */
function createProcess(world: World, lastStep: number) {
  let steps = 0;
  const step = (): Promise<void> => {
    steps += 1;
    return steps > lastStep ? new Promise(() => {}) : Promise.resolve();
  };
  async function between<T>(does: () => Promise<T>): Promise<T> {
    await step();
    const result = await does();
    await step();
    return result;
  }
  const { store, api } = world;
  const ownStore: Store = {
    change: (ref, fn) => between(() => store.change(ref, fn)),
    find: (ref) => store.find(ref),
    unsettled: () => store.unsettled(),
  };
  const agentRuns: AgentRuns & Transcripts = {
    create: (request) => between(() => api.create(request)),
    list: (query) => between(() => api.list(query)),
    fetch: (runId) => between(() => api.fetch(runId)),
    followUp: (runId, request) => between(() => api.followUp(runId, request)),
    cancel: (runId) => between(() => api.cancel(runId)),
    messages: (runId) => between(() => api.messages(runId)),
  };
  const slack: Platform = {
    name: "slack",
    perform: (effect, { uncertain }) => between(async () => world.post(effect, uncertain)),
    check: async () => {},
  };
  const engine = world.newEngine({
    store: ownStore,
    agentRuns,
    transcripts: agentRuns,
    platforms: [slack],
  });
  return { engine, steps: () => steps };
}

/** A dispatch, its end, a follow-up and its end. The bot is killed once; events that it did not ack are redelivered. */
async function tell(lastStep: number): Promise<{ world: World; steps: number }> {
  const world = createWorld();
  const { clock, api } = world;
  const first = createProcess(world, lastStep);
  let now = first;
  await now.engine.start();
  const events = [mention("fix the flaky test"), reply("and the docs")];
  for (const event of events) {
    let acked = false;
    void now.engine.accept(event).then((answer) => {
      acked = answer === "saved";
    });
    await clock.advance(5_000);
    const work = async (): Promise<void> => {
      // Longer than the API's settling time.
      await clock.advance(90_000);
      for (const state of ["INPROGRESS", "SUCCEEDED"]) {
        for (const run of api.runs.keys()) {
          api.turn(run, state);
          const said = api.conversations.get(run) ?? [];
          api.conversations.set(run, [...said, { role: "assistant", text: `${state} ${said.length}` }]);
        }
        await clock.advance(5_000);
      }
    };
    if (first.steps() > lastStep && now === first) {
      now = createProcess(world, Number.POSITIVE_INFINITY);
      await now.engine.start();
      if (!acked) await now.engine.accept(event);
    }
    await work();
    if (first.steps() > lastStep && now === first) {
      now = createProcess(world, Number.POSITIVE_INFINITY);
      await now.engine.start();
    }
    await clock.advance(120_000);
  }
  // Uncertain effects are watched for an hour.
  await clock.advance(90 * 60_000);
  return { world, steps: first.steps() };
}

test("a kill at any instant loses nothing and repeats nothing", async () => {
  const { world: whole, steps } = await tell(Number.POSITIVE_INFINITY);
  expect(whole.posted.length).toBeGreaterThan(2);
  for (let lastStep = 0; lastStep < Math.min(steps, 160); lastStep += 1) {
    const { world } = await tell(lastStep);
    const thread = world.store.get(place);
    expect({ lastStep, settled: isSettled(thread), effects: thread.effects }).toMatchObject({
      settled: true,
    });
    expect({ lastStep, runs: [...world.api.runs.keys()] }).toEqual({ lastStep, runs: ["run-1"] });
    const followUps = world.api.conversations.get("run-1")?.filter(({ role }) => role === "user") ?? [];
    expect({ lastStep, followUps: followUps.length }).toEqual({ lastStep, followUps: 1 });
    expect({ lastStep, posted: world.posted.length }).toEqual({
      lastStep,
      posted: new Set(world.posted).size,
    });
    expect({ lastStep, posted: world.posted.length }).toEqual({ lastStep, posted: whole.posted.length });
  }
});
