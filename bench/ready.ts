/**
 * The time from the bot's imports until it is ready, and its memory then: with 100,000 settled and 1,000 unsettled
 * threads, and with none. A process with an invalid PORT exits when its imports end, which gives their time.
 */
import { setTimeout as delay } from "node:timers/promises";
import { fillFolder } from "#bench/store/store-fill.ts";
import { runName } from "#bench/world/credentials.ts";
import { atMost, type Figure, inMegabytes, inMs, median } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { addUnsettled } from "#bench/world/unsettled-threads.ts";
import { environmentOf, memoryOf, type Outside, startBot, startOutside } from "#bench/world/world.ts";

const settled = 100_000;
const unsettled = 1_000;
const starts = 5;
/** Long enough for the first sweeps. */
const laterMs = 3_000;
const mostMs = 1_000;
const mostBytes = 150 * 1024 * 1024;

interface Start {
  /** From the start of the process. */
  readonly readyMs: number;
  readonly memory: ReturnType<typeof memoryOf>;
  readonly later: ReturnType<typeof memoryOf>;
}

export async function measureReady(ground: Ground): Promise<readonly Figure[]> {
  const full = ground.folder();
  const empty = ground.folder();
  const at = Date.now() - 60 * 60_000;
  await fillFolder(full, settled);
  const runs = await addUnsettled(full, settled, unsettled, at);
  const outside = await startOutside(ground);
  await outside.addRuns({ name: runName, runs });

  const imports: number[] = [];
  const inFull: Start[] = [];
  const inEmpty: Start[] = [];
  const bare: Bare[] = [];
  for (let start = 0; start < starts; start += 1) {
    imports.push(await timeImports(ground, outside));
    inFull.push(await startOnce(ground, outside, full));
    inEmpty.push(await startOnce(ground, outside, empty));
    bare.push(await startBareProcess(ground));
  }
  await outside.end();

  const importsMs = median(imports);
  const afterImports = (all: readonly Start[]): number =>
    median(all.map(({ readyMs }) => readyMs)) - importsMs;
  const fullMs = afterImports(inFull);
  const loaded = bytesOf(bare.map(({ memory }) => memory));
  return [
    {
      what: "process start to the end of the imports",
      measured: inMs(importsMs),
      baseline: `${inMs(median(bare.map(({ ms }) => ms)))} with Bolt and Octokit alone`,
    },
    {
      what: "end of the imports to ready",
      measured: inMs(fullMs),
      baseline: `${inMs(afterImports(inEmpty))} with no threads`,
      aim: atMost(fullMs, mostMs, "at most 1 s"),
    },
    memoryFigure("memory when ready (VmRSS)", inFull, inEmpty, loaded, ({ memory }) => memory?.now),
    memoryFigure("most memory until ready (VmHWM)", inFull, inEmpty, loaded, ({ memory }) => memory?.most),
    memoryFigure("memory 3 s later (VmRSS)", inFull, inEmpty, loaded, ({ later }) => later?.now),
  ];
}

async function startOnce(ground: Ground, outside: Outside, dataDir: string): Promise<Start> {
  const started = performance.now();
  const bot = await startBot(ground, outside, dataDir);
  const readyMs = performance.now() - started;
  const memory = memoryOf(bot.pid);
  await delay(laterMs);
  const later = memoryOf(bot.pid);
  await bot.end();
  return { readyMs, memory, later };
}

/** Milliseconds until a bot exits because of its configuration, which it reads first. */
async function timeImports(ground: Ground, outside: Outside): Promise<number> {
  const started = performance.now();
  const env = { ...environmentOf(outside, ground.folder()), PORT: "none" };
  const refused = ground.start("src/start.mjs", { env });
  await refused.wrote(/PORT must be/);
  const ms = performance.now() - started;
  await refused.end();
  return ms;
}

interface Bare {
  readonly ms: number;
  readonly memory: ReturnType<typeof memoryOf>;
}

async function startBareProcess(ground: Ground): Promise<Bare> {
  const started = performance.now();
  const bare = ground.start("bench/baselines/bare-imports.ts");
  await bare.wrote(/loaded/);
  const ms = performance.now() - started;
  const memory = memoryOf(bare.pid);
  await bare.end();
  return { ms, memory };
}

const bytesOf = (all: readonly ReturnType<typeof memoryOf>[]): number =>
  median(all.map((memory) => memory?.now ?? Number.NaN));

function memoryFigure(
  what: string,
  inFull: readonly Start[],
  inEmpty: readonly Start[],
  loaded: number,
  read: (start: Start) => number | undefined,
): Figure {
  const bytes = (all: readonly Start[]): number => median(all.map((start) => read(start) ?? Number.NaN));
  if (Number.isNaN(bytes(inFull))) return { what, measured: "not told by this system (no /proc)" };
  return {
    what,
    measured: inMegabytes(bytes(inFull)),
    baseline: `${inMegabytes(bytes(inEmpty))} with no threads; ${inMegabytes(loaded)} with Bolt and Octokit alone`,
    aim: { text: "under 150 MB", met: bytes(inFull) < mostBytes },
  };
}
