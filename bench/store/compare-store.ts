/** What `store.ts` measures, beside its aims. It runs in a process of its own, as from the command line. */
import { execa } from "execa";
import { atMost, type Figure, inMs, timesBaseline } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";

const most = 100_000;
const least = 100;
const threads = [least, 10_000, most];
const changes = 2_000;
const withinMs = 4 * 60_000;
const times = 1.5;
/** What counts as flat while the threads grow a thousandfold. */
const flatTimes = 1.5;

interface Row {
  readonly p50: number;
  readonly p95: number;
  /** 100 changes that start at once, until the last is durable. */
  readonly hundred: number;
}

export async function measureStore(ground: Ground): Promise<readonly Figure[]> {
  const script = `${import.meta.dirname}/store.ts`;
  const how = ["--threads", threads.join(), "--changes", String(changes), "--dir", ground.folder()];
  const { stdout } = await execa(process.execPath, [script, ...how], { timeout: withinMs });
  const row = (count: number, of: "store" | "sqlite"): Row => {
    const numbers = "\\s+([\\d.]+)".repeat(4);
    const found = new RegExp(`^${count}\\s+${of}${numbers}$`, "m").exec(stdout);
    if (found === null) throw new Error(`there is no line for ${of} with ${count} threads in:\n${stdout}`);
    const [, p50, p95, , hundred] = found.map(Number);
    return { p50: p50 ?? Number.NaN, p95: p95 ?? Number.NaN, hundred: hundred ?? Number.NaN };
  };
  const growth = row(most, "store").p50 / row(least, "store").p50;
  const growthOfSqlite = row(most, "sqlite").p50 / row(least, "sqlite").p50;
  return [
    ...threads.flatMap((count) => {
      const ours = row(count, "store");
      const theirs = row(count, "sqlite");
      const at = `${count.toLocaleString("en")} threads`;
      return [
        timesBaseline(`one change at ${at}, p50 of ${changes}`, ours.p50, theirs.p50, times, inFineMs),
        timesBaseline(`one change at ${at}, p95`, ours.p95, theirs.p95, null, inFineMs),
        timesBaseline(`100 changes at once at ${at}, all`, ours.hundred, theirs.hundred, times, inMs),
      ];
    }),
    {
      what: `one change at ${most.toLocaleString("en")} threads against one at ${least}`,
      measured: `${growth.toFixed(2)} times`,
      baseline: `${growthOfSqlite.toFixed(2)} times`,
      aim: atMost(growth, flatTimes, `flat: at most ${flatTimes} times`),
    },
  ];
}

const inFineMs = (value: number): string => `${value.toFixed(3)} ms`;
