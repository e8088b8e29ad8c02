/** Which ends and BLOCKEDs lasted long enough for the bot to see them. */
import type { Posted } from "#test/simulation/world/chat.ts";
import { isOver, type SimulatedRun } from "#test/simulation/world/service/simulated-run.ts";
import type { World } from "#test/simulation/world/world.ts";

const minute = 60_000;
/** The longest time between two looks at a run if nothing fails, and if requests fail now and then. */
const calmLookMs = 3 * minute;
const slowestLookMs = 12 * minute;

/** The numbers of the episodes that the bot had enough time to see and to save. */
export function visibleEpisodes(world: World, card: Posted, run: SimulatedRun): ReadonlySet<number> {
  const visible = new Set<number>();
  const { calm, faultRate, diskFaultRate, crowd, lags, unreadableRate } = world.machine.weather;
  // A sweep of many requests hardly ever succeeds if each may fail.
  if (faultRate > 0.02 || diskFaultRate > 0.02 || crowd > 0 || unreadableRate > 0) return visible;
  const lookMs = calm ? calmLookMs : slowestLookMs + lags.changes + lags.fetch + lags.runs;
  for (const [index, word] of run.words.entries()) {
    if (word.episode === null || !(isOver(word.run.state) || word.run.state === "BLOCKED")) continue;
    const until = run.words[index + 1]?.at ?? word.at;
    const from = Math.max(word.at, card.at);
    if (wellMs(world, from, until) > lookMs) visible.add(word.episode);
  }
  return visible;
}

/** The longest time between the two during which a process ran, and the service and the disk worked. */
function wellMs({ machine, lives }: World, from: number, until: number): number {
  const { outages, diskFull } = machine.weather;
  const start = machine.time.startMs;
  const downs = outages.filter(({ system }) => system === "agent-runs").concat();
  let longest = 0;
  for (const { bornAt, diedAt } of lives) {
    let pieces = [{ from: Math.max(from, bornAt), until: Math.min(until, diedAt ?? until) }];
    for (const down of [...downs, ...(diskFull === null ? [] : [diskFull])]) {
      pieces = pieces.flatMap((piece) => [
        { from: piece.from, until: Math.min(piece.until, start + down.fromMs) },
        { from: Math.max(piece.from, start + down.toMs), until: piece.until },
      ]);
    }
    for (const piece of pieces) longest = Math.max(longest, piece.until - piece.from);
  }
  return longest;
}
