import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { EngineEvent } from "#engine/base/engine-event.ts";

/** The bot's pending work. */
export interface Load {
  /** Threads with an effect to perform or an unfinished run. */
  readonly unsettled: number;
  /** Effects still to perform. */
  readonly pendingEffects: number;
  /** Unfinished runs. */
  readonly unfinishedRuns: number;
}

/** In seconds: from a quick write, 5 ms, to the time limit of outside calls, a minute. */
const seconds = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Creates the metrics of the bot and its process. `load` is called at each scrape. */
export function createMetrics(load: () => Load) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const accepted = new Histogram({
    name: "agent_runs_bot_accept_seconds",
    help: "Time to take in an event and save what follows from it, by kind of event and answer",
    labelNames: ["event", "answer"],
    buckets: seconds,
    registers,
  });
  const performed = new Histogram({
    name: "agent_runs_bot_perform_seconds",
    help: "Time to perform an effect once, by kind of effect, system and outcome",
    labelNames: ["effect", "system", "outcome"],
    buckets: seconds,
    registers,
  });
  const swept = new Histogram({
    name: "agent_runs_bot_sweep_seconds",
    help: "Time of one sweep over the unfinished runs, by outcome",
    labelNames: ["outcome"],
    buckets: seconds,
    registers,
  });
  const requests = new Counter({
    name: "agent_runs_bot_sweep_requests_total",
    help: "Requests that sweeps sent to the Agent Runs API",
    registers,
  });
  const changed = new Counter({
    name: "agent_runs_bot_sweep_changed_total",
    help: "Runs that sweeps found changed",
    registers,
  });
  const twins = new Counter({
    name: "agent_runs_bot_twins_total",
    help: "Runs, messages and posts that were made twice, found and ended, by kind of watch",
    labelNames: ["effect"],
    registers,
  });
  const gauge = (name: string, help: string, read: (now: Load) => number): void => {
    new Gauge({
      name: `agent_runs_bot_${name}`,
      help,
      registers,
      collect() {
        this.set(read(load()));
      },
    });
  };
  gauge(
    "unsettled_threads",
    "Threads with an effect to perform, an unfinished run or a look for twins to come",
    (now) => now.unsettled,
  );
  gauge("pending_effects", "Effects still to perform", (now) => now.pendingEffects);
  gauge("unfinished_runs", "Runs that have not ended", (now) => now.unfinishedRuns);

  return {
    registry,
    /** Records an event of the engine. */
    count(event: EngineEvent): void {
      const took = "durationMs" in event ? event.durationMs / 1000 : 0;
      switch (event.kind) {
        case "accepted":
          return accepted.observe({ event: event.event, answer: event.answer }, took);
        case "performed":
          return performed.observe(
            { effect: event.effect, system: event.system, outcome: event.ok ? "ok" : "failed" },
            took,
          );
        case "twins":
          return twins.inc({ effect: event.of }, event.count);
        case "swept":
          requests.inc(event.requests);
          changed.inc(event.changed);
          return swept.observe({ outcome: event.ok ? "ok" : "failed" }, took);
        default:
          return event satisfies never;
      }
    },
  };
}
