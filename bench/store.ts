/**
 * What one durable change of a thread costs with so many threads stored, beside node:sqlite (WAL,
 * synchronous FULL) doing the same: read the thread, change it, write it.
 *
 *   node bench/store.ts [--threads 100,10000,100000] [--changes 1000] [--dir <a folder on the disk to measure>]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openStore } from "../src/store/open-store.ts";
import { fillFolder, placeOf, touched } from "./store-fill.ts";
import { openSqlite } from "./store-sqlite.ts";

const { values } = parseArgs({
  options: {
    threads: { type: "string", default: "100,10000,100000" },
    changes: { type: "string", default: "1000" },
    dir: { type: "string", default: tmpdir() },
  },
});

type Change = (place: string, step: number) => Promise<unknown>;

const log = { debug() {}, info() {}, warn() {}, error: (message: string) => print(`error: ${message}`) };
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const ms = (value: number): string => value.toFixed(3).padStart(9);

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Times of changes one after another, and of rounds of 100 that start at once. */
async function measure(change: Change, threads: number, changes: number) {
  const pick = (): string => placeOf(Math.floor(Math.random() * threads));
  const one = async (step: number): Promise<number> => {
    const place = pick();
    const started = performance.now();
    await change(place, step);
    return performance.now() - started;
  };
  for (let step = 0; step < 50; step += 1) await one(step);
  await Promise.all(Array.from({ length: 100 }, (_, step) => one(step)));
  const alone: number[] = [];
  for (let step = 0; step < changes; step += 1) alone.push(await one(step));
  const rounds: number[] = [];
  const together: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const started = performance.now();
    const times = await Promise.all(Array.from({ length: 100 }, (_, step) => one(step)));
    rounds.push(performance.now() - started);
    together.push(...times);
  }
  return {
    p50: quantile(alone, 0.5),
    p95: quantile(alone, 0.95),
    together: quantile(together, 0.95),
    round: quantile(rounds, 0.5),
  };
}

print("ms per durable change of one thread, chosen at random, of so many");
print("                     one at a time       100 at once");
print("threads   store        p50      p95   p95 each  all 100");
for (const threads of values.threads.split(",").map(Number)) {
  const folder = mkdtempSync(join(values.dir, "bench-store-"));
  try {
    fillFolder(join(folder, "store"), threads);
    const opening = performance.now();
    const store = await openStore({ dataDir: join(folder, "store"), log, now: Date.now });
    const openedMs = performance.now() - opening;
    const sqlite = openSqlite(join(folder, "baseline.db"), threads);
    const contenders: [string, Change][] = [
      [
        "store",
        (place, step) => store.change(place, (thread) => ({ thread: touched(thread, step), result: 0 })),
      ],
      ["sqlite", async (place, step) => sqlite.change(place, (thread) => touched(thread, step))],
    ];
    const p50s: number[] = [];
    for (const [name, change] of contenders) {
      const { p50, p95, together, round } = await measure(change, threads, Number(values.changes));
      p50s.push(p50);
      print(
        `${String(threads).padEnd(9)} ${name.padEnd(6)} ${ms(p50)}${ms(p95)}  ${ms(together)}${ms(round)}`,
      );
    }
    const [ours = 0, theirs = 0] = p50s;
    const rss = Math.round(process.memoryUsage.rss() / 1024 / 1024);
    print(
      `${" ".repeat(10)}ratio of p50s ${(ours / theirs).toFixed(2)}; opened in ${openedMs.toFixed(1)} ms; RSS ${rss} MB`,
    );
    sqlite.close();
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
