/**
 * Has people send requests in worlds that lag, answer late and step their clocks, and counts what the bot lost,
 * doubled or left untold: `npm run worlds -- [--requests 60] [--only <part of a name>]`.
 */

import { flagsOf, wholeNumber } from "#test/support/command-line.ts";
import type { LostAnswers } from "#test/support/worlds/bad-world.ts";
import { type HistoryOptions, tellHistory } from "./history.ts";

type Row = Pick<HistoryOptions, "world" | "settlingSeconds" | "quietMs"> & {
  readonly name: string;
  readonly kills?: number;
};

const often: LostAnswers = { cut: 0.5 };
const step = (afterMs: number, byMs: number) => (sinceMs: number) => (sinceMs < afterMs ? 0 : byMs);
/** Up to `mostMs` in either direction, the same whenever the same moment is shown. */
const jitter = (mostMs: number) => (sinceMs: number) =>
  Math.round(((Math.imul(sinceMs, 2_654_435_761) >>> 0) / 2 ** 31 - 1) * mostMs);

/** A row each of the failures that were measured from outside before the settling time. */
const rows: readonly Row[] = [
  {
    name: "creates cut, lists show new runs 5 s later",
    world: { api: { creates: { cut: 1 }, listLagMs: 5_000 } },
    settlingSeconds: 8,
  },
  {
    name: "creates cut, lists 2 s late, kills",
    world: { api: { creates: often, listLagMs: 2_000 } },
    settlingSeconds: 4,
    kills: 6,
  },
  {
    name: "creates cut, lists and single runs 2 s late, no filter by metadata, kills",
    world: { api: { creates: often, listLagMs: 2_000, fetchLagMs: 2_000, ignoresMetadata: true } },
    settlingSeconds: 4,
    kills: 6,
  },
  {
    name: "creates answered 503, and performed",
    world: { api: { creates: { unavailable: 0.5 }, listLagMs: 2_000 } },
    settlingSeconds: 4,
  },
  {
    name: "creates performed 3 s after they were cut",
    world: { api: { creates: { late: 0.5, lateMs: 3_000 } } },
    settlingSeconds: 5,
  },
  {
    name: "pages out of order, creates cut, kills",
    world: { api: { creates: often, unsorted: true, ignoresMetadata: true, listLagMs: 1_000 } },
    settlingSeconds: 3,
    kills: 6,
  },
  {
    name: "follow-ups cut, conversations 4 s late",
    world: { api: { followUps: often, conversationLagMs: 4_000 } },
    settlingSeconds: 6,
  },
  {
    name: "follow-ups limited",
    world: { api: { followUps: { limited: 0.5 } } },
  },
  {
    name: "Slack's posts cut, read 3 s late",
    world: { slack: { posts: often, listLagMs: 3_000 } },
    settlingSeconds: 5,
  },
  {
    name: "GitHub's comments cut, read 3 s late",
    world: { github: { posts: often, listLagMs: 3_000 } },
    settlingSeconds: 5,
  },
  {
    name: "the API's clock steps back 2 minutes in mid-work",
    world: { api: { clockMs: step(8_000, -120_000) } },
  },
  {
    name: "the API's clock jitters by 3 s",
    world: { api: { clockMs: jitter(3_000) } },
    // A run whose lists and answers differ again and again is looked at less often, and an answer that its time puts
    // after its end is told when that has settled.
    quietMs: 120_000,
  },
  {
    name: "this machine's clock put back by 90 s",
    world: { ownClock: [{ afterMs: 8_000, byMs: -90_000 }] },
  },
  {
    name: "this machine's clock a day ahead for a moment, kills",
    world: {
      ownClock: [
        { afterMs: 6_000, byMs: 86_400_000 },
        { afterMs: 10_000, byMs: 0 },
      ],
      api: { creates: { unavailable: 0.3 } },
    },
    settlingSeconds: 2,
    kills: 4,
  },
  {
    name: "edits of cards limited",
    world: { slack: { edits: { limited: 0.5 } } },
  },
];

const usage = "npm run worlds -- [--requests 60] [--only <part of a name>]";
const values = flagsOf(
  { requests: { type: "string", default: "60" }, only: { type: "string", default: "" } },
  usage,
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

let broken = 0;
for (const { name, kills = 0, ...row } of rows.filter((each) => each.name.includes(values.only))) {
  const began = performance.now();
  const { violations, deeds, outside, lost, twins, folder } = await tellHistory({
    ...row,
    seed: 1,
    requests: wholeNumber("requests", values.requests, 1, usage),
    kills,
    serviceKills: 0,
    quietWithinMs: 180_000,
    settleWithinMs: 0,
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  const counts = Object.entries(Object.groupBy(violations, ({ promise }) => promise)).map(
    ([promise, of = []]) => `${of.length} × ${promise}`,
  );
  say(
    `${name}: ${deeds.length} requests, ${outside.runs.length} runs, ${lost} answers lost, ${twins} twins ended, ${seconds} s`,
  );
  say(counts.length === 0 ? "  nothing lost, doubled or untold" : `  ${counts.join("; ")}; see ${folder}`);
  for (const { promise, what } of violations) say(`  BROKEN: ${promise}: ${what}`);
  broken += violations.length;
}
process.exitCode = broken === 0 ? 0 : 1;
