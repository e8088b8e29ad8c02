/** Runs `store.ts` in its own process and compares its figures with the aims. */
import { execa } from "execa";
import { atMost, type Figure, inMs, timesBaseline } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";

const most = 100_000;
const least = 100;
const threads = [least, 10_000, most];
const changes = 2_000;
const withinMs = 4 * 60_000;
const times = 1.3;
/** Counts as flat while the threads grow a thousandfold. */
const flatTimes = 1.5;

/** Milliseconds; `hundred` start at once, until the last is durable. */
interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly hundred: number;
}

export async function measureStore(ground: Ground): Promise<readonly Figure[]> {
  const script = `${import.meta.dirname}/store.ts`;
  const how = ["--threads", threads.join(), "--changes", String(changes), "--dir", ground.folder()];
  const { stdout } = await execa(process.execPath, [script, ...how], { timeout: withinMs });
  const row = (count: number, of: "store" | "sqlite"): { readonly change: Times; readonly add: Times } => {
    const numbers = "\\s+([\\d.]+)".repeat(6);
    const found = new RegExp(`^${count}\\s+${of}${numbers}$`, "m").exec(stdout);
    if (found === null) throw new Error(`there is no line for ${of} with ${count} threads in:\n${stdout}`);
    const timesAt = (first: number): Times => {
      const [p50 = Number.NaN, p99 = Number.NaN, hundred = Number.NaN] = found.slice(first).map(Number);
      return { p50, p99, hundred };
    };
    return { change: timesAt(1), add: timesAt(4) };
  };
  const growth = row(most, "store").change.p50 / row(least, "store").change.p50;
  const growthOfSqlite = row(most, "sqlite").change.p50 / row(least, "sqlite").change.p50;
  return [
    ...threads.flatMap((count) => {
      const [ours, theirs] = [row(count, "store"), row(count, "sqlite")];
      const at = `at ${count.toLocaleString("en")} threads`;
      return (["change", "add"] as const).flatMap((kind) => {
        const what = kind === "change" ? "change" : "new thread";
        const [our, their] = [ours[kind], theirs[kind]];
        return [
          timesBaseline(`one ${what} ${at}, p50 of ${changes}`, our.p50, their.p50, times, inFineMs),
          timesBaseline(`one ${what} ${at}, p99`, our.p99, their.p99, null, inFineMs),
          timesBaseline(`100 ${what}s at once ${at}, all`, our.hundred, their.hundred, times, inMs),
        ];
      });
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
