/**
 * The cost of following 1,000 unfinished runs: the real engine, client and store, against an API in another process
 * that counts its requests. The engine's clock jumps from tick to tick, so that hours pass in seconds; the duration
 * of a tick is measured by the real clock.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createAgentRunsClient } from "#agent-runs/client.ts";
import type { Log } from "#base/log.ts";
import { createFastClock } from "#bench/load/fast-clock.ts";
import { runName, secrets } from "#bench/world/credentials.ts";
import { atMost, type Figure, inMs, median } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { addUnsettled } from "#bench/world/unsettled-threads.ts";
import { type Outside, startOutside } from "#bench/world/world.ts";
import { createDecide } from "#core/decide/decide.ts";
import type { PlatformEffect } from "#core/effect.ts";
import { placeAt } from "#core/place.ts";
import { createEngine } from "#engine/engine.ts";
import type { Platform } from "#ports.ts";
import { openStore } from "#store/open-store.ts";

const runs = 1_000;
const pollIntervalMs = 2_000;
const hourMs = 60 * 60_000;
const minuteMs = 60_000;
const tickWithinMs = 60_000;
const repetitions = 5;

interface Tick {
  readonly requests: number;
  readonly tookMs: number;
  readonly changed: number;
}

export async function measurePoll(ground: Ground): Promise<readonly Figure[]> {
  const outside = await startOutside(ground);
  const poller = await startPoller(ground, outside);
  try {
    const page = await timeBare(outside, 0);
    const pages = await timeBare(outside, 2);
    await outside.asked();
    const first = await poller.tick();
    const lively = await poller.ticksFor(minuteMs);
    const idle = await poller.ticksFor(hourMs);
    const few = await poller.changes(10);
    const many = await poller.changes(runs);
    return [
      figureOf("the first, which sees all runs", [first], runs, pages),
      figureOf("without changes, in the first minute", lively, 0, page),
      figureOf("without changes, in the hour after it", idle, 0, page),
      figureOf("that finds 10 changes", few.finding, 10, page),
      figureOf("in the minute after 10 changes", few.after, 0, page),
      figureOf("that finds 1,000 changes", many.finding, runs, pages),
      figureOf("in the minute after 1,000 changes", many.after, 0, page),
    ];
  } finally {
    await poller.stop();
    await outside.end();
  }
}

/** `changes`: the changed runs that such a tick finds; `bareMs`: the time of the requests alone. */
function figureOf(what: string, ticks: readonly Tick[], changes: number, bareMs: number): Figure {
  const requests = ticks.reduce((sum, tick) => sum + tick.requests, 0) / ticks.length;
  // Compared as printed: some ticks also look for runs that were not seen for a long time.
  const mean = requests.toFixed(1);
  const most = Math.max(...ticks.map((tick) => tick.requests));
  const took = ticks.map(({ tookMs }) => tookMs);
  const bound = 1 + Math.floor(changes / 500);
  return {
    what: `tick ${what} (${ticks.length} ticks)`,
    measured: `${mean} requests, most ${most}; ${inMs(median(took))}, most ${inMs(Math.max(...took))}`,
    baseline: `${runs} requests, one a run; ${inMs(bareMs)} to fetch and parse alone`,
    aim: atMost(Number(mean), bound, `${bound} request${bound === 1 ? "" : "s"}`),
  };
}

/** Milliseconds to fetch and parse so many pages of runs without the engine; 0 pages: an empty list. */
async function timeBare(outside: Outside, pages: 0 | 2): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const started = performance.now();
    for (let page = 0; page < Math.max(1, pages); page += 1) {
      const name = pages === 0 ? "nobody" : runName;
      const query = new URLSearchParams({ name, limit: "500", cursor: String(page * 500) });
      await (await fetch(`${outside.apiUrl}/agent/runs?${query}`)).json();
    }
    times.push(performance.now() - started);
  }
  return median(times);
}

async function startPoller(ground: Ground, outside: Outside) {
  const dataDir = ground.folder();
  const clock = createFastClock(Date.now());
  const open = await addUnsettled(dataDir, 0, runs, clock.now() - hourMs);
  await outside.addRuns({ name: runName, runs: open });

  const client = createAgentRunsClient({ baseUrl: outside.apiUrl, apiKey: secrets.apiKey });
  const log: Log = { debug() {}, info() {}, warn: print, error: print };
  const store = await openStore({ dataDir, log, now: clock.now });
  let swept: ((changed: number) => void) | null = null;
  const engine = createEngine({
    store,
    agentRuns: client,
    transcripts: client,
    factories: client,
    platforms: [obedient],
    decide: createDecide(rules),
    clock,
    log,
    runName,
    pollIntervalMs,
    observe(event) {
      if (event.kind === "swept") swept?.(event.changed);
    },
  });
  await engine.start();

  /** Waits until the work of the last tick is performed and saved, then starts the next tick. */
  async function tick(): Promise<Tick> {
    while (engine.status().pendingEffects > 0) await delay(5);
    const found = new Promise<number>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("a tick did not end")), tickWithinMs);
      swept = (changed) => {
        clearTimeout(late);
        resolve(changed);
      };
    });
    const started = performance.now();
    if (!clock.jump()) throw new Error("the poller waits for nothing");
    const changed = await found;
    const tookMs = performance.now() - started;
    const { lists, fetches } = await outside.asked();
    return { requests: lists + fetches, tookMs, changed };
  }

  async function ticksFor(ms: number): Promise<readonly Tick[]> {
    const until = clock.now() + ms;
    const ticks: Tick[] = [];
    while (clock.now() < until) ticks.push(await tick());
    return ticks;
  }

  return {
    tick,
    ticksFor,
    /** Measures ticks that find so many changes each, and the ticks of the minute after each, which find none. */
    async changes(count: number) {
      const finding: Tick[] = [];
      const after: Tick[] = [];
      for (let repetition = 0; repetition < repetitions; repetition += 1) {
        // The changes are far apart, so that no tick is measured in the minute after another change.
        await ticksFor(10 * minuteMs);
        await outside.turnRuns({ count, at: clock.now() });
        const found = await tick();
        if (found.changed !== count) throw new Error(`a tick found ${found.changed} of ${count} changes`);
        finding.push(found);
        after.push(...(await ticksFor(minuteMs)));
      }
      return { finding, after };
    },
    async stop(): Promise<void> {
      await engine.stop();
      await store.close();
    },
  };
}

const print = (message: string, fields?: unknown): void =>
  void process.stdout.write(`  ${message} ${JSON.stringify(fields ?? {})}\n`);

const rules = {
  runName,
  defaults: {},
  scopes: {},
  labels: {},
  mcpServers: {},
  replies: "all",
  allow: {},
  retryForMs: hourMs,
  platforms: {},
} as const;

/** A platform that performs each effect at once. */
const obedient: Platform = {
  name: "slack",
  check: () => Promise.resolve(),
  async perform(effect: PlatformEffect) {
    if (effect.kind !== "card") throw new Error(`nothing here should ask for a ${effect.kind}`);
    const { revision, message = "1700000000.000200", at } = effect;
    return { ok: true, kind: "card", revision, message, place: placeAt(at) };
  },
};
