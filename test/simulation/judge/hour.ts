/** What an hour's outage must be like, besides what every history must. */
import { toApi } from "#core/effect.ts";
import { defaultLimits } from "#engine/base/limits.ts";
import { type Hour, type Outage, systems } from "#test/simulation/hour.ts";
import { downFromMs, downToMs } from "#test/simulation/story/hour-people.ts";
import type { Milestone } from "#test/simulation/story/milestones.ts";
import type { Deed } from "#test/simulation/world/deliveries.ts";
import type { System } from "#test/simulation/world/weather.ts";

/** Platforms call a delivery lost when it isn't answered by then. */
const ackWithinMs = 3_000;
/** The first waits of one effect add up to some five minutes, the others are some four minutes each. */
const mostTries = 23;
/** The poller's, which wait a minute at the most. */
const mostSweeps = 120;
/** More than without an outage. */
const mostInASecond = 60;
const storedUpMs = 8 * 60_000;
/** One request more, as where a list has another page; far less than any try that fails. */
const directLateMs = 400;
/** As long as the shortest tick of the poller, and a write: when a sweep comes depends on all runs together. */
const sweptLateMs = 2_100;

/** Empty: it was as it must be. `calmHour` is the same hour without an outage. */
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
  // A comment that overtakes the first command in its place concerns nobody, outage or not.
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
  // Before a word is sent to a run, the API is asked about the run.
  const perTry = isApi ? 2 : 1;
  const most =
    sickness === "crawls" || sickness === "is sick in turns"
      ? // Much is delivered for all that, with a try or two more.
        5 * countBetween(calmHour, system, downFromMs, downToMs)
      : pending.firsts * mostTries * perTry + (isApi ? mostSweeps : 0);
  if (during > most) found.push(`${during} requests to ${system} in the hour, of at most ${most}`);
  if (isApi && hour.sweeps > mostSweeps && sickness !== "is sick in turns") {
    found.push(`${hour.sweeps} requests in sweeps of the hour, of at most ${mostSweeps}`);
  }
  for (const [kind, atOnce] of hour.mostAtOnce) {
    if (atOnce > defaultLimits.perSystem) found.push(`${atOnce} requests at once: ${kind}`);
  }
  // Where many tries hung, the others wait for them to end, and then come as fast as they are answered.
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

/** The busiest system's requests in each second from the outage until what was stored up is done. */
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

/** What has nothing to do with the system that is down. */
export const isElsewhere = (milestone: Milestone, down: System): boolean =>
  down === toApi ? / direct (card|answer to help) /.test(milestone) : !milestone.startsWith(down);

function disturbed(hour: Hour, { system }: Outage, calmHour: Hour): readonly string[] {
  const found: string[] = [];
  for (const [milestone, calmAt] of calmHour.milestones) {
    if (!isElsewhere(milestone, system)) continue;
    const at = hour.milestones.get(milestone);
    const lateMs = (at ?? Number.POSITIVE_INFINITY) - calmAt;
    if (lateMs > (milestone.includes(" swept ") ? sweptLateMs : directLateMs)) {
      found.push(`${milestone} came ${lateMs} ms later than without the outage`);
    }
  }
  return found;
}

/** The poller's health and what is still to be done are what the bot's status and its metrics show. */
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
