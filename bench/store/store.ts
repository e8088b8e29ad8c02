/**
 * What one durable change of a thread costs with so many threads stored, beside node:sqlite (WAL,
 * synchronous FULL) doing the same: read the thread, change it, write it.
 *
 *   node bench/store.ts [--threads 100,10000,100000] [--changes 2000] [--dir <a folder on the disk to measure>]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { openSqlite } from "#bench/baselines/store-sqlite.ts";
import { openStore } from "#store/open-store.ts";
import { fillFolder, placeOf, touched } from "./store-fill.ts";

/** Turns that each contender gets, so that a change of the machine's mood meets both. */
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
  readonly alone: number[];
  readonly each: number[];
  readonly rounds: number[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const log = { debug() {}, info() {}, warn() {}, error: print };
const ms = (value: number): string => value.toFixed(3).padStart(9);

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function changeOne({ change }: Contender, threads: number, step: number): Promise<number> {
  const place = placeOf(Math.floor(Math.random() * threads));
  const started = performance.now();
  await change(place, step);
  return performance.now() - started;
}

/** Changes one after another, then 100 that start at once. */
async function takeTurn(contender: Contender, threads: number, changes: number): Promise<void> {
  for (let step = 0; step < changes; step += 1)
    contender.alone.push(await changeOne(contender, threads, step));
  const started = performance.now();
  const each = await Promise.all(
    Array.from({ length: 100 }, (_, step) => changeOne(contender, threads, step)),
  );
  contender.rounds.push(performance.now() - started);
  contender.each.push(...each);
}

async function measure(folder: string, threads: number): Promise<void> {
  const dataDir = join(folder, "store");
  fillFolder(dataDir, threads);
  const sqlite = openSqlite(join(folder, "baseline.db"), threads);
  // What filling left in the page cache would otherwise be written during the measurement.
  await execa("sync");
  const opening = await execa(process.execPath, [join(import.meta.dirname, "store-open.ts"), dataDir]);
  const store = await openStore({ dataDir, log, now: Date.now });
  const contender = (name: string, change: Contender["change"]): Contender => ({
    name,
    change,
    alone: [],
    each: [],
    rounds: [],
  });
  const contenders = [
    contender("store", (place, step) =>
      store.change(place, (thread) => ({ thread: touched(thread, step), result: null })),
    ),
    contender("sqlite", async (place, step) => sqlite.change(place, (thread) => touched(thread, step))),
  ];
  const changes = Math.ceil(Number(values.changes) / turns);
  for (const each of contenders) await takeTurn({ ...each, alone: [], each: [], rounds: [] }, threads, 50);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const each of contenders) await takeTurn(each, threads, changes);
  }
  for (const { name, alone, each, rounds } of contenders) {
    const columns = [
      quantile(alone, 0.5),
      quantile(alone, 0.95),
      quantile(each, 0.95),
      quantile(rounds, 0.5),
    ];
    print(`${String(threads).padEnd(8)} ${name.padEnd(6)} ${columns.map(ms).join("")}`);
  }
  const ratio = (times: (each: Contender) => number[]): string => {
    const [ours = Number.NaN, theirs = Number.NaN] = contenders.map((each) => quantile(times(each), 0.5));
    return (ours / theirs).toFixed(2);
  };
  print(
    `         store/sqlite: ${ratio((each) => each.alone)} alone, ${ratio((each) => each.rounds)} for 100 at once`,
  );
  print(`         ${opening.stdout}`);
  sqlite.close();
  await store.close();
}

print("ms per durable change of one thread, chosen at random");
print("                  one at a time    100 at once");
print("threads  of           p50      p95 p95 each  p50 all");
for (const threads of values.threads.split(",").map(Number)) {
  const folder = mkdtempSync(join(values.dir, "bench-store-"));
  try {
    await measure(folder, threads);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
