/** Judges that nothing but its own troubles holds up a request. */
import type { Deed } from "#test/simulation/world/deliveries.ts";
import type { Outside } from "#test/simulation/world/outside.ts";
import type { Fate } from "#test/simulation/world/weather.ts";

/** Enough for a few requests, and for the pace of a busy channel. */
const cardWithinMs = 20_000;
/** So long a request that meets such a fate may be under way; each lasts for most of `cardWithinMs` at least. */
const hangsMs = 5 * 60_000;
const slowFates: ReadonlySet<Fate> = new Set(["hung-before", "hung-after", "timed-out", "slow"]);

/** The card of a new thread comes soon, although edits of other cards are limited. */
export function checkPrompt(outside: Outside): void {
  const { editLimitRate, slowestWriteMs, diskFaultRate, diskFull } = outside.world.machine.weather;
  if (editLimitRate === 0 || slowestWriteMs > 50 || diskFaultRate > 0 || diskFull !== null) return;
  for (const deed of outside.deeds) {
    if (deed.intent !== "dispatch" || !deed.permitted || deed.ackedAt === null || !isNew(outside, deed))
      continue;
    const until = deed.ackedAt + cardWithinMs;
    if (isDisturbed(outside, deed, deed.ackedAt, until)) continue;
    const card = outside.posted.find(({ kind, dispatch }) => kind === "card" && dispatch === deed.event.id);
    if (card === undefined || card.at > until) {
      outside.wrong(
        "edits hold up no request",
        `${deed.event.id} has no card ${cardWithinMs / 1_000} s later`,
      );
    }
  }
}

/** Nothing was said in its place before, and no card began it. */
const isNew = ({ deeds, posted }: Outside, { event, saidAt = 0 }: Deed): boolean =>
  event.place === null ||
  (!deeds.some((other) => other.event.place === event.place && (other.saidAt ?? 0) < saidAt) &&
    !posted.some(({ place, at }) => place === event.place && at < saidAt));

function isDisturbed({ world }: Outside, { event }: Deed, from: number, until: number): boolean {
  const { machine, lives } = world;
  const platform = event.by.platform === "slack" ? world.slack : world.github;
  const within = (at: number): boolean => at >= from - 120_000 && at <= until;
  const { startMs } = machine.time;
  return (
    platform.isShut(event.place ?? event.scope) ||
    platform.failedAt.some(within) ||
    lives.some(({ bornAt, diedAt }) => within(bornAt) || (diedAt !== null && within(diedAt))) ||
    machine.weather.outages.some(
      ({ system, fate, fromMs, toMs }) =>
        system === platform.name &&
        slowFates.has(fate) &&
        startMs + fromMs <= until &&
        from <= startMs + toMs + hangsMs,
    ) ||
    machine.weather.hangShare > 0 ||
    machine.weather.lateShare > 0 ||
    machine.weather.clocks.bot.steps.some(({ atMs }) => within(startMs + atMs))
  );
}
