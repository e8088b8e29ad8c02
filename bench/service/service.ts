/**
 * Compares the embedded service with 100,000 runs to a bare HTTP handler of the same framework that returns a
 * constant. They take turns, so that a change of the machine's load affects both.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { closedLoop, type Volume, type Wanted } from "#bench/load/closed-loop.ts";
import { atMost, type Figure, inMegabytes, inMs, median, quantile } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { memoryOf } from "#bench/world/world.ts";
import manifest from "../../package.json" with { type: "json" };
import { apiKey, betweenMs, fillRuns, firstDay, idOf, requestOf } from "./service-fill.ts";

/** Node's flags in `npm run service`. */
const flags = manifest.scripts.service.split(" ").filter((word) => word.startsWith("--"));
const stored = 100_000;
const connections = 64;
/** Number of concurrent waits for runs. */
const watched = 500;
const turns = 5;
const turnMs = 1_500;
const warmUpMs = 1_500;
const pageConnections = 4;
const pageTurnMs = 1_000;

const get = (path: string): Wanted => ({ method: "GET", path: `/api/v1/agent/runs${path}` });
const fetchOf = (runs: number) => (): Wanted => get(`/${idOf(Math.floor(Math.random() * runs))}`);
let created = stored;
const create = (): Wanted => ({
  method: "POST",
  path: "/api/v1/agent/runs",
  body: JSON.stringify(requestOf(++created)),
});

/** Queries for a page of 100, by name. */
const pages: Readonly<Record<string, () => string>> = {
  "latest changes": () => "",
  "one state and one name": () => `&state=FAILED&name=team-${Math.floor(Math.random() * 20)}`,
  "state, name and metadata": () =>
    `&state=SUCCEEDED&name=team-${Math.floor(Math.random() * 20)}&metadata[repository]=octo/app`,
  "one metadata pair of one run": () =>
    `&metadata[agent-runs-bot.dispatch]=github:comment:${1_000_000 + Math.floor(Math.random() * stored)}`,
  "created in one week, oldest first": () => {
    const from = firstDay + Math.floor(Math.random() * stored * 0.8) * betweenMs;
    const at = (ms: number): string => new Date(ms).toISOString();
    return `&sort_by=created_at&sort_order=asc&created_after=${at(from)}&created_before=${at(from + 7 * 86_400_000)}`;
  },
  "sorted by title": () => "&sort_by=title",
  "nothing meets it all": () => "&state=CANCELLED&name=team-1&model_id=large&environment_id=environment-8",
  "search that all contain": () => "&q=flaky",
  "search that one in 1,000 contains": () => "&q=zebra",
  "search that none contains": () => "&q=walrus",
};

export async function measureService(ground: Ground): Promise<readonly Figure[]> {
  const folder = ground.folder();
  await fillRuns(folder, stored);
  const onDisk = readdirSync(join(folder, "service")).reduce(
    (sum, name) => sum + statSync(join(folder, "service", name)).size,
    0,
  );
  const service = ground.start("bench/service/service-process.ts", { args: [folder], flags });
  const [, readyMs = ""] = await service.wrote(/ready after (\S+) ms\n/);
  const [, url = ""] = await service.wrote(/listens at (\S+)\n/);
  const atRest = memoryOf(service.pid)?.now ?? Number.NaN;
  const text = async (path: string, init: RequestInit = {}): Promise<string> =>
    (
      await fetch(`${url}/api/v1/agent/runs${path}`, {
        ...init,
        headers: { authorization: `Bearer ${apiKey}` },
      })
    ).text();
  const item = await text(`/${idOf(stored / 2)}`);
  const answer = await text("", { method: "POST", body: JSON.stringify(requestOf(0)) });
  const bare = ground.start("bench/baselines/bare-service.ts", { args: [item, answer] });
  const [, bareUrl = ""] = await bare.wrote(/listens at (\S+)\n/);

  const load = (at: string, next: () => Wanted, forMs: number, over = connections): Promise<Volume> =>
    closedLoop(at, next, { key: apiKey, connections: over, forMs });
  const duel = async (next: () => Wanted): Promise<{ ours: Volume[]; theirs: Volume[] }> => {
    for (const at of [url, bareUrl]) await load(at, next, warmUpMs);
    const ours: Volume[] = [];
    const theirs: Volume[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      ours.push(await load(url, next, turnMs));
      theirs.push(await load(bareUrl, next, turnMs));
    }
    return { ours, theirs };
  };

  const fetches = await duel(fetchOf(stored));
  const watches = await duel(fetchOf(watched));
  const listed: Figure[] = [];
  for (const [name, query] of Object.entries(pages)) {
    const next = (): Wanted => get(`?limit=100${query()}`);
    await load(url, next, pageTurnMs / 2, 1);
    const alone = await load(url, next, pageTurnMs, 1);
    const several = await load(url, next, pageTurnMs, pageConnections);
    const p50 = quantile(alone.waits, 0.5);
    listed.push({
      what: `page of 100: ${name}`,
      measured: `p50 ${inMs(p50)}, p99 ${inMs(quantile(alone.waits, 0.99))}; ${several.rate.toFixed(0)} a second`,
      aim: atMost(p50, 10, "under 10 ms"),
    });
  }
  const creates = await duel(create);
  const most = memoryOf(service.pid);
  const added = creates.ours.reduce((sum, { waits }) => sum + waits.length, 0);
  await service.end();
  await bare.end();
  return [
    { what: `ready with ${stored} runs (${inMegabytes(onDisk)} on disk)`, measured: inMs(Number(readyMs)) },
    share("create a second", creates, 0.5),
    share(`fetch a second, of ${stored}`, fetches, 0.8),
    share(`fetch a second, of ${watched} that are waited for`, watches, 0.8),
    ...listed,
    { what: "memory at rest", measured: inMegabytes(atRest) },
    {
      what: `memory after all that, with ${added} more runs`,
      measured: `${inMegabytes(most?.now ?? Number.NaN)}, at most ${inMegabytes(most?.most ?? Number.NaN)}`,
      aim: atMost((most?.now ?? Number.NaN) / 1024 / 1024, 200, "200 MB"),
    },
  ];
}

/** Rates beside the bare handler's, by the median of the turns. */
function share(
  what: string,
  { ours, theirs }: { ours: readonly Volume[]; theirs: readonly Volume[] },
  aim: number,
): Figure {
  const ratio = median(ours.map(({ rate }, turn) => rate / (theirs[turn]?.rate ?? Number.NaN)));
  const rateOf = (volumes: readonly Volume[]): string =>
    `${median(volumes.map(({ rate }) => rate)).toFixed(0)}/s`;
  const slowest = inMs(
    quantile(
      ours.flatMap(({ waits }) => waits),
      0.99,
    ),
  );
  return {
    what,
    measured: `${rateOf(ours)} (${ratio.toFixed(2)} of it; p99 ${slowest})`,
    baseline: rateOf(theirs),
    aim: { text: `at least ${aim} of it`, met: ratio >= aim },
  };
}
