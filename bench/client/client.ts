/** Compares our client of the Agent Runs API with the official SDK (oz-agent-sdk) on the same local server. */
import { atMost, type Figure, inMs, median } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";

const starts = 11;
/** The aim, relative to the SDK: at least its rate, at most its time. */
const noSlower = 1;

const kinds = [
  ["fetch", 1, "fetching a run, one after the other"],
  ["fetch", 16, "fetching a run, 16 at once"],
  ["list", 16, "listing 100 runs, 16 at once"],
  ["create", 16, "creating a run, 16 at once"],
] as const;

export async function measureClient(ground: Ground): Promise<readonly Figure[]> {
  const service = ground.start("bench/client/client-service.ts");
  const [, url = ""] = await service.wrote(/listens at (\S+)\n/);

  const loads = { ours: [] as Load[], sdk: [] as Load[] };
  for (let start = 0; start < starts; start += 1) {
    for (const which of ["ours", "sdk"] as const) loads[which].push(await load(ground, which, url));
  }

  const caller = ground.start("bench/client/client-calls.ts", { args: [url] });
  const figures: Figure[] = [];
  for (const [name, atOnce, what] of kinds) {
    const line = new RegExp(`^${name} ${atOnce} ours (\\S+) sdk (\\S+) times (\\S+)$`, "m");
    const [, ours, sdk, times] = (await caller.wrote(line)).map(Number);
    figures.push(rateFigure(what, ours ?? Number.NaN, sdk ?? Number.NaN, times ?? Number.NaN));
  }
  await caller.end();
  await service.end();
  return [
    ...figures,
    loadFigure("import", loads.ours, loads.sdk, (each) => each.importedMs, true),
    loadFigure("import and the first answer", loads.ours, loads.sdk, (each) => each.answeredMs, false),
  ];
}

interface Load {
  readonly importedMs: number;
  readonly answeredMs: number;
}

async function load(ground: Ground, which: "ours" | "sdk", url: string): Promise<Load> {
  const started = ground.start("bench/client/client-import.ts", { args: [which, url] });
  const [, importedMs, answeredMs] = (await started.wrote(/imported (\S+) answered (\S+)\n/)).map(Number);
  await started.end();
  return { importedMs: importedMs ?? Number.NaN, answeredMs: answeredMs ?? Number.NaN };
}

const inASecond = (value: number): string => `${Math.round(value).toLocaleString("en")} a second`;

function rateFigure(what: string, ours: number, sdk: number, times: number): Figure {
  return {
    what,
    measured: `${inASecond(ours)} (${times.toFixed(2)} times)`,
    baseline: inASecond(sdk),
    aim: { text: "no fewer", met: times >= noSlower },
  };
}

function loadFigure(
  what: string,
  ours: readonly Load[],
  sdk: readonly Load[],
  read: (load: Load) => number,
  isAim: boolean,
): Figure {
  const [a, b] = [median(ours.map(read)), median(sdk.map(read))];
  return {
    what,
    measured: `${inMs(a)} (${(a / b).toFixed(2)} times)`,
    baseline: inMs(b),
    ...(isAim && { aim: atMost(a / b, noSlower, "no longer") }),
  };
}
