import { createDecide } from "#core/decide/decide.ts";
import { createEngine } from "#engine/engine.ts";
import { mention, rules } from "#test/support/core/story.ts";
import { createHandClock } from "#test/support/engine/hand-clock.ts";
import { createMemoryStore } from "#test/support/engine/memory-store.ts";
import { StandInApi } from "#test/support/engine/stand-in-api.ts";
import { createStandInPlatform } from "#test/support/engine/stand-in-platform.ts";
import { silentLog } from "#test/support/logs.ts";

/** An engine with the real core, and a dispatch whose run is in this state. */
export async function started(state: string, change: (api: StandInApi) => void = () => {}) {
  const clock = createHandClock();
  const store = createMemoryStore();
  const api = new StandInApi(clock);
  for (const run of ["run-1", "run-2"]) api.conversations.set(run, [{ role: "assistant", text: "Done." }]);
  change(api);
  const slack = createStandInPlatform("slack");
  const newEngine = () =>
    createEngine({
      store,
      agentRuns: api,
      transcripts: api,
      factories: api,
      platforms: [slack],
      decide: createDecide(rules),
      clock,
      log: silentLog,
      runName: rules.runName,
      pollIntervalMs: 2_000,
    });
  const engine = newEngine();
  await engine.start();
  await engine.accept(mention("fix it"));
  await clock.advance(2_000);
  api.turn("run-1", state);
  await clock.advance(5_000);
  const replies = () =>
    slack.tries.flatMap(({ effect }) => (effect.kind === "reply" ? [JSON.stringify(effect.view)] : []));
  return { clock, store, api, slack, engine, newEngine, replies, told: () => replies().length };
}
