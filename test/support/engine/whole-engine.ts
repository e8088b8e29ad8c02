/** The engine with the real decisions, on stand-ins in memory and a clock moved by hand. */
import { createDecide } from "#core/decide/decide.ts";
import type { Thread } from "#core/thread.ts";
import type { EngineEvent } from "#engine/base/engine-event.ts";
import { createEngine, type Engine, type EngineOptions } from "#engine/engine.ts";
import { rules } from "#test/support/core/story.ts";
import { silentLog } from "#test/support/logs.ts";
import { createHandClock, type HandClock } from "./hand-clock.ts";
import { createMemoryStore, type MemoryStore } from "./memory-store.ts";
import { StandInApi } from "./stand-in-api.ts";
import { createStandInPlatform, type StandInPlatform } from "./stand-in-platform.ts";

export interface WholeEngine {
  readonly clock: HandClock;
  readonly store: MemoryStore;
  readonly api: StandInApi;
  readonly slack: StandInPlatform;
  readonly engine: Engine;
  readonly observed: EngineEvent[];
  /** Creates another engine in the same world, with some parts of its own. */
  newEngine(own?: Partial<EngineOptions>): Engine;
  /** The only thread. */
  thread(): Thread;
}

export function wholeEngine(): WholeEngine {
  const clock = createHandClock();
  const store = createMemoryStore();
  const api = new StandInApi(clock);
  const slack = createStandInPlatform("slack");
  const observed: EngineEvent[] = [];
  const newEngine: WholeEngine["newEngine"] = (own) =>
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
      observe: (event) => observed.push(event),
      ...own,
    });
  const thread = () => store.get("slack:T1:C1:100.1");
  return { clock, store, api, slack, engine: newEngine(), observed, newEngine, thread };
}
