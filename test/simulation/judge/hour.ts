/** Judges a history with an hour's outage, besides the promises that every history keeps. */
import { toApi } from "#core/effect.ts";
import { defaultLimits } from "#engine/base/limits.ts";
import { type Hour, type Outage, systems } from "#test/simulation/hour.ts";
import { downFromMs, downToMs } from "#test/simulation/story/hour-people.ts";
import type { Milestone } from "#test/simulation/story/milestones.ts";
import type { System } from "#test/simulation/world/clocks.ts";
import type { Deed } from "#test/simulation/world/deliveries.ts";

/** Platforms give up on a delivery that is not answered within this time. */
const ackWithinMs = 3_000;
/** An effect's first waits add up to about five minutes; each later one is about four minutes. */
const mostTries = 23;
/** The poller waits at most a minute after a failure. */
const mostSweeps = 120;
/** Allowed on top of the requests without an outage. */
const mostInASecond = 60;
const storedUpMs = 8 * 60_000;
/** One more request, such as another page of a list; far fewer than after a failed try. */
const directLateMs = 400;
/** The poller's longest tick. */
const longestTickMs = 30_000;
/** From the start of a sweep until the end that it found is announced; a run without an answer is read four times. */
const tellWithinMs = 10_100;

/** Returns the violations. `calmHour` is the same hour without an outage. */
export function judgeHour(hour: Hour, outage: Outage, calmHour: Hour): readonly string[] {
  return [
    ...hour.violations.map(({ invariant, what }) => `${invariant}: ${what}`),
    ...unacknowledged(hour, calmHour),
    ...hour.silent.map((dispatch) => `nobody was told that ${dispatch} waits`),
    ...hour.overdue.map((effect) => `${effect} was still not done long after the return`),
    ...storms(hour, outage, calmHour),
    ...disturbed(hour, outage, calmHour),
    ...misreported(hour, outage),
  ];
}

function unacknowledged({ deeds }: Hour, calmHour: Hour): readonly string[] {
  // A comment that arrives before the first command of its place is ignored, with or without an outage.
  const calmly = new Map(calmHour.deeds.map((deed) => [deed.event.id, howTaken(deed)]));
  const other = deeds.filter((deed) => {
    const how = howTaken(deed);
    return how !== "saved at once" && how !== calmly.get(deed.event.id);
  });
  return other.map((deed) => `${deed.event.id} was not taken in at once: ${howTaken(deed)}`);
}

function howTaken({ acked, ackedAt, triedAt }: Deed): string {
  if (acked !== "saved" || ackedAt === null || triedAt === null) return String(acked);
  return ackedAt - triedAt > ackWithinMs ? "saved late" : "saved at once";
}

function storms(hour: Hour, { system, sickness }: Outage, calmHour: Hour): readonly string[] {
  const found: string[] = [];
  const pending = hour.atReturn.pending.get(system) ?? { effects: 0, firsts: 0 };
  const during = countBetween(hour, system, downFromMs, downToMs);
  const isApi = system === toApi;
  // Before a follow-up is sent, its run is fetched.
  const perTry = isApi ? 2 : 1;
  const most =
    sickness === "crawls" || sickness === "is sick in turns"
      ? // Much is delivered for all that, with a try or two more.
        5 * countBetween(calmHour, system, downFromMs, downToMs)
      : pending.firsts * mostTries * perTry + (isApi ? mostSweeps : 0);
  if (during > most) found.push(`${during} requests to ${system} in the hour, of at most ${most}`);
  const sweeps = hour.sweptAt.filter((atMs) => downFromMs <= atMs && atMs < downToMs).length;
  if (isApi && sweeps > mostSweeps && sickness !== "is sick in turns") {
    found.push(`${sweeps} requests in sweeps of the hour, of at most ${mostSweeps}`);
  }
  for (const [kind, atOnce] of hour.mostAtOnce) {
    if (atOnce > defaultLimits.perSystem) found.push(`${atOnce} requests at once: ${kind}`);
  }
  // After many tries that hung, the waiting ones come as fast as they are answered.
  if (sickness === "hangs") return found;
  const first = countBetween(hour, system, downToMs, downToMs + 1_000);
  if (first > Math.max(pending.firsts / 4, 10)) {
    found.push(`${first} requests to ${system} in the first second, ${pending.firsts} wait`);
  }
  const calmly = bySecond(calmHour);
  for (const [second, count] of bySecond(hour)) {
    const also = Math.max(...[-1, 0, 1].map((by) => calmly.get(second + by) ?? 0));
    if (count > also + mostInASecond) found.push(`${count} requests in second ${second}, ${also} without`);
  }
  return found;
}

const countBetween = ({ requests }: Hour, to: System, fromMs: number, toMs: number): number =>
  requests.filter(({ system, atMs }) => system === to && fromMs <= atMs && atMs < toMs).length;

/** Requests of the busiest system in each second, from the start of the outage until the backlog is done. */
function bySecond({ requests }: Hour): ReadonlyMap<number, number> {
  const busiest = new Map<number, number>();
  for (const each of systems) {
    const counts = new Map<number, number>();
    for (const { system, atMs } of requests) {
      if (system !== each || atMs < downFromMs || atMs >= downToMs + storedUpMs) continue;
      const second = Math.floor(atMs / 1_000);
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
    for (const [second, count] of counts) busiest.set(second, Math.max(count, busiest.get(second) ?? 0));
  }
  return busiest;
}

/** Results that don't depend on the system that is down. */
export const isElsewhere = (milestone: Milestone, down: System): boolean =>
  down === toApi ? / direct (card|answer to help) /.test(milestone) : !milestone.startsWith(down);

function disturbed(hour: Hour, { system }: Outage, calmHour: Hour): readonly string[] {
  const found: string[] = [];
  for (const [milestone, calmAt] of calmHour.milestones) {
    if (!isElsewhere(milestone, system)) continue;
    const at = hour.milestones.get(milestone);
    const lateMs = (at ?? Number.POSITIVE_INFINITY) - calmAt;
    const mostMs = milestone.includes(" swept ") ? sweptLateMs(hour, calmAt) : directLateMs;
    if (lateMs > mostMs) found.push(`${milestone} came ${lateMs} ms later than without the outage`);
  }
  return found;
}

/**
 * An end that is announced at `calmAt` without the outage is announced after the next sweep at the latest. Ticks
 * may be longer in an outage, since fewer runs change.
 */
function sweptLateMs({ sweptAt }: Hour, calmAt: number): number {
  const next = sweptAt.find((atMs) => atMs >= calmAt) ?? Number.POSITIVE_INFINITY;
  return Math.min(next - calmAt, longestTickMs) + tellWithinMs;
}

/** The bot's status and metrics show the poller's health and the pending effects. */
function misreported({ atReturn: { status }, statusAfter }: Hour, { system, sickness }: Outage): string[] {
  const found: string[] = [];
  if (sickness === "crawls" || sickness === "is sick in turns") return found;
  if (status?.lastSweep?.ok !== (system !== toApi)) {
    found.push(`the last sweep is said to be ${JSON.stringify(status?.lastSweep)}`);
  }
  if ((status?.pendingEffects ?? 0) === 0) found.push("nothing is said to be waiting");
  if (statusAfter?.lastSweep?.ok !== true) {
    found.push(`after the return it is said to be ${JSON.stringify(statusAfter?.lastSweep)}`);
  }
  return found;
}
