/**
 * The cost of a durable change and of a new thread with so many threads stored, one at a time and 100 at once,
 * beside node:sqlite (WAL, synchronous FULL) with the same statements.
 *
 *   node bench/store/store.ts [--threads 100,10000,100000] [--changes 2000] [--dir <a folder on the disk to measure>]
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { openSqlite } from "#bench/baselines/store-sqlite.ts";
import { databaseName, openStore } from "#store/open-store.ts";
import { fillFolder, placeOf, sampleThread, touched } from "./store-fill.ts";

/** Turns of each contender, so that a change of the machine's load affects both. */
const turns = 10;

const { values } = parseArgs({
  options: {
    threads: { type: "string", default: "100,10000,100000" },
    changes: { type: "string", default: "2000" },
    dir: { type: "string", default: tmpdir() },
  },
});

interface Contender {
  readonly name: string;
  readonly change: (place: string, step: number) => Promise<unknown>;
  readonly add: (index: number) => Promise<unknown>;
  readonly times: Record<"change" | "add", { readonly alone: number[]; readonly hundred: number[] }>;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const log = { debug() {}, info() {}, warn() {}, error: print };
const ms = (value: number): string => value.toFixed(3).padStart(9);

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Makes changes and new threads one after another, then 100 of each at once. */
async function takeTurn(of: Contender, threads: number, steps: number, first: number): Promise<void> {
  let next = first;
  const work = {
    change: (step: number) => of.change(placeOf(Math.floor(Math.random() * threads)), step),
    add: () => {
      next += 1;
      return of.add(next);
    },
  };
  for (const kind of ["change", "add"] as const) {
    const { alone, hundred } = of.times[kind];
    for (let step = 0; step < steps; step += 1) alone.push(await timed(() => work[kind](step)));
    const all = () => Promise.all(Array.from({ length: 100 }, (_, step) => work[kind](step)));
    hundred.push(await timed(all));
  }
}

async function measure(folder: string, threads: number): Promise<void> {
  const dataDir = join(folder, "store");
  await fillFolder(dataDir, threads);
  copyFileSync(join(dataDir, databaseName), join(folder, "baseline.db"));
  const sqlite = openSqlite(join(folder, "baseline.db"));
  // Otherwise the system would write the filled pages to the disk during the measurement.
  await execa("sync");
  const opening = await execa(process.execPath, [join(import.meta.dirname, "store-open.ts"), dataDir]);
  const store = await openStore({ dataDir, log, now: Date.now });
  const timesOf = () => ({ change: { alone: [], hundred: [] }, add: { alone: [], hundred: [] } });
  const contenders: Contender[] = [
    {
      name: "store",
      change: (place, step) =>
        store.change(place, (thread) => ({ thread: touched(thread, step), result: null })),
      add: (index) => store.change(placeOf(index), () => ({ thread: sampleThread(index), result: null })),
      times: timesOf(),
    },
    {
      name: "sqlite",
      change: async (place, step) => sqlite.change(place, (thread) => touched(thread, step)),
      add: async (index) => sqlite.add(sampleThread(index)),
      times: timesOf(),
    },
  ];
  const steps = Math.ceil(Number(values.changes) / turns);
  for (const each of contenders) await takeTurn({ ...each, times: timesOf() }, threads, 50, threads);
  for (let turn = 1; turn <= turns; turn += 1) {
    for (const each of contenders) await takeTurn(each, threads, steps, threads + turn * (steps + 200));
  }
  for (const { name, times } of contenders) {
    const columns = (["change", "add"] as const).flatMap((kind) => {
      const { alone, hundred } = times[kind];
      return [quantile(alone, 0.5), quantile(alone, 0.99), quantile(hundred, 0.5)];
    });
    print(`${String(threads).padEnd(8)} ${name.padEnd(6)} ${columns.map(ms).join("")}`);
  }
  print(`         ${opening.stdout}`);
  sqlite.close();
  await store.close();
}

print("ms per durable change of a thread chosen at random, and per new thread");
print("                      a change               a new thread");
print("threads  of           p50      p99  100 all      p50      p99  100 all");
for (const threads of values.threads.split(",").map(Number)) {
  const folder = mkdtempSync(join(values.dir, "bench-store-"));
  try {
    await measure(folder, threads);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
