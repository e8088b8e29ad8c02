/** What people said to the bot while it was not listening: read back from its channels, messages and threads. */
import type { WebClient } from "@slack/web-api";
import { createGaps } from "#base/gaps.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import { skewMs } from "#base/window.ts";
import type { PersonEvent, PlatformEvent, ReplyEvent } from "#core/event.ts";
import type { Fault } from "#core/outcome.ts";
import type { Clock, Missed } from "#ports.ts";
import { faultOf } from "#slack/faults.ts";
import { millisecondsOf, readPlace } from "#slack/place.ts";
import type { SlackTime } from "#slack/slack-time.ts";
import type { Self } from "#slack/translate.ts";
import { createChannels } from "./channels.ts";
import { type Reading, readNextPage } from "./read-page.ts";
import { type Round, readRound, writeRound } from "./round.ts";

/** Pages of one search: Slack allows at least fifty a minute, and one to apps outside its Marketplace. */
const mostPages = 40;
/** More pages of it for quiet threads, which take turns. */
const quietPages = 10;
/** After a limit the search waits this many times as long as Slack asks: reading for requests has the same limit. */
const limitFactor = 3;
/** After so long without a round all threads are read soon. */
const absenceMs = 3_600_000;
/** The pause until the search that continues. */
const pauseMs = 60_000;
/** Rounds are begun so rarely that they need at most ten pages a minute. */
const perPageMs = 6_000;
/** Nothing older is read back. */
const longestMs = 7 * 24 * 3_600_000;
/** Failures of Slack in a row, after which a search ends. */
const mostFailures = 3;

/** Options of `createMissed`. */
export interface MissedOptions {
  readonly client: WebClient;
  readonly identity: () => Promise<Self>;
  readonly time: SlackTime;
  readonly clock: Pick<Clock, "elapsed">;
  readonly log: Log;
}

/** Threads and channels have limits of their own. */
type Kind = "thread" | "channel";
const kindOf = (target: string): Kind => (readPlace(target)?.threadTs === undefined ? "channel" : "thread");

/**
 * Creates `Platform.missed`. A round reads each channel, and each thread with an unfinished run, from where the round
 * before began; a search continues the round where the last search stopped, and begins the next round when that is
 * over. Other threads stay unread over rounds until it is their turn.
 */
export function createMissed({ client, identity, time, clock, log }: MissedOptions) {
  const channelList = createChannels(client, log);
  const gaps = createGaps((target) => readPlace(target)?.channel ?? target);
  /** Ends of rate limits, by `Clock.elapsed`. */
  const limits: Record<Kind, number> = { thread: 0, channel: 0 };
  /** The last text that was kept; `isOver`: its round has read all but what Slack failed to show. */
  let last: { readonly text: string; readonly isOver: boolean } | null = null;
  /** Targets that Slack failed to show last: they are read after all others. */
  const troubled = new Set<string>();
  /** What that round has read. */
  const done = new Set<string>();
  const active = new Set<string>();
  /** Threads that are unread since before this time of Slack are read soon; the bot was away. */
  let awayUntilMs = Number.POSITIVE_INFINITY;
  let pagesOfRound = 0;
  /** When the round began, by `Clock.elapsed`; null: in an earlier process. */
  let startedAt: number | null = null;
  let nextRoundAt = 0;
  let limitLogged = false;
  let failureLogged = false;
  let scopeLogged = false;

  async function newRound(before: Round | null, missed: Missed, self: Self): Promise<Round> {
    const nowMs = time.now();
    const since = before === null ? time.windowFrom(missed.since) : before.untilMs - skewMs;
    if (since < nowMs - longestMs - skewMs) {
      const [from, to] = [since, nowMs - longestMs].map((ms) => new Date(ms).toISOString());
      log.warn("What people said in Slack more than seven days ago is not read back", { from });
      gaps.add(
        "old",
        `What people said in Slack from ${from} to ${to} is not read back: that is too long ago.`,
      );
    }
    const readFrom = (ms: number) => ({ fromMs: Math.max(Math.min(ms, nowMs - skewMs), nowMs - longestMs) });
    const channels = [...(await channelList.list(self.teamId)), ...missed.scopes];
    const targets = [...missed.places, ...channels, ...(missed.lively ?? [])].filter((target) =>
      readPlace(target),
    );
    done.clear();
    gaps.keepOnly(targets);
    pagesOfRound = 0;
    if (awayUntilMs === Number.POSITIVE_INFINITY || nowMs - since > absenceMs) awayUntilMs = nowMs;
    const unread = new Map(targets.map((target) => [target, readFrom(since)]));
    for (const [target, { fromMs }] of before?.unread ?? []) unread.set(target, readFrom(fromMs));
    return { untilMs: nowMs, unread };
  }

  /** Drops what can't be read, or notes the limit. */
  function unreadable(round: Round, target: string, fault: Fault): void {
    if (fault.limited) {
      limits[kindOf(target)] = clock.elapsed() + (fault.retryAfterMs ?? pauseMs) * limitFactor;
      return;
    }
    round.unread.delete(target);
    // A deleted thread is no gap.
    if (fault.code !== "thread_not_found") gaps.unreadable(target, fault.reason);
    active.delete(target);
    const fields = { target, reason: fault.reason };
    if (fault.code !== "missing_scope")
      return log.debug("A channel or thread in Slack can't be read", fields);
    if (!scopeLogged) log.warn("What was said while the bot was away can't be read back everywhere", fields);
    scopeLogged = true;
  }

  /** Whether the target is a thread without an unfinished run, which no round waits for. */
  const isAside = (target: string, first: ReadonlySet<string>): boolean =>
    kindOf(target) === "thread" && !first.has(target);

  /** Whether it is a thread that takes turns: nothing shows that it has a new reply. */
  const isQuiet = ({ unread }: Round, target: string, first: ReadonlySet<string>): boolean =>
    isAside(target, first) &&
    !active.has(target) &&
    (unread.get(target)?.fromMs ?? 0) >= awayUntilMs - skewMs;

  /** Returns the target to read next; undefined: none may be read now. */
  function nextTarget(
    round: Round,
    failed: ReadonlySet<string>,
    first: ReadonlySet<string>,
  ): string | undefined {
    const rank = (target: string): number => {
      if (isQuiet(round, target, first)) return 4;
      if (troubled.has(target)) return 3;
      return first.has(target) ? 0 : kindOf(target) === "channel" ? 1 : 2;
    };
    // What was left by earlier rounds goes first: busy threads are read in each round again.
    const fromMs = (target: string): number => round.unread.get(target)?.fromMs ?? 0;
    const startedMs = (target: string): number => millisecondsOf(readPlace(target)?.threadTs ?? "0.0");
    return [...round.unread.keys()]
      .filter((target) => !failed.has(target) && limits[kindOf(target)] <= clock.elapsed())
      .sort(
        (one, other) =>
          rank(one) - rank(other) || fromMs(one) - fromMs(other) || startedMs(other) - startedMs(one),
      )[0];
  }

  /** Reads pages of the round. `isOver`: all is read but what Slack failed to show, which the next round repeats. */
  async function read(
    reading: Reading,
    first: ReadonlySet<string>,
  ): Promise<{
    readonly events: ReadonlyMap<string, ReplyEvent>;
    readonly isOver: boolean;
    /** Set if Slack showed nothing. */
    readonly failure: unknown;
  }> {
    const { round } = reading;
    const events = new Map<string, ReplyEvent>();
    const failed = new Map<string, unknown>();
    let [failures, successes] = [0, 0];
    for (let pages = 0; failures < mostFailures; pages += 1) {
      const target = nextTarget(round, new Set(failed.keys()), first);
      const where = target === undefined ? null : readPlace(target);
      if (target === undefined || where === null) break;
      const quiet = isQuiet(round, target, first);
      if (pages >= mostPages + (quiet ? quietPages : 0)) break;
      if (quiet || !isAside(target, first)) pagesOfRound += 1;
      try {
        for (const event of await readNextPage(reading, target, where)) events.set(event.id, event);
        failures = 0;
        successes += 1;
        troubled.delete(target);
        gaps.read(target);
      } catch (error) {
        const fault = faultOf(error);
        if (fault.limited || !fault.retryable) unreadable(round, target, fault);
        else {
          failures += 1;
          failed.set(target, error);
          troubled.add(target);
        }
      }
    }
    const [firstFailure] = failed;
    if (firstFailure !== undefined) {
      const [target, error] = firstFailure;
      const fields = { target, reason: faultOf(error).reason };
      if (!failureLogged) log.warn("A channel or thread in Slack is read back later", fields);
    }
    failureLogged = firstFailure !== undefined;
    return {
      events,
      isOver: [...round.unread.keys()].every((target) => failed.has(target) || isAside(target, first)),
      failure: successes === 0 ? firstFailure?.[1] : undefined,
    };
  }

  function logLimit(left: number): void {
    const isLimited = Math.max(...Object.values(limits)) > clock.elapsed();
    if (left > 0 && isLimited && !limitLogged) {
      log.warn("Slack limits how much can be read back; the rest is read later", { left });
    }
    limitLogged = left > 0 && (isLimited || limitLogged);
  }

  /** Returns the time until a search can continue the round; undefined: only quiet threads are left, if any. */
  function moreInMs(left: readonly string[]): number | undefined {
    if (left.length === 0) return undefined;
    const limitedMs = Math.min(...left.map((target) => limits[kindOf(target)] - clock.elapsed()));
    return limitedMs > 0 ? limitedMs : pauseMs;
  }

  async function look(missed: Missed): Promise<readonly PersonEvent[]> {
    const self = await identity();
    const before = readRound(missed.kept);
    // Otherwise this is another process, or the events of the last search were not saved.
    const isLast = last !== null && missed.kept === last.text;
    /** Their replies need no mention, and a round waits for them. */
    const first = new Set(missed.places);
    const soon = (round: Round): readonly string[] =>
      [...round.unread.keys()].filter((target) => !isQuiet(round, target, first));
    const isOver =
      before === null ||
      (isLast ? last?.isOver === true : [...before.unread.keys()].every((target) => isAside(target, first)));
    const begins = before === null || (isOver && clock.elapsed() >= nextRoundAt);
    if (isOver && !begins && soon(before).every((target) => troubled.has(target))) return [];
    if (!isLast) done.clear();
    if (begins) startedAt = clock.elapsed();
    const round = begins ? await newRound(before, missed, self) : before;
    const known = new Set([...missed.places, ...(missed.lively ?? [])]);
    const {
      events,
      isOver: isRead,
      failure,
    } = await read(
      { client, self, isInternal: channelList.isInternal, round, nowMs: time.now(), known, done, active },
      first,
    );
    if (begins && failure !== undefined) throw failure;
    const left = soon(round);
    logLimit(left.length);
    if (isRead && startedAt !== null) nextRoundAt = startedAt + pagesOfRound * perPageMs;
    missed.tellGaps?.([...gaps.sentences(), ...channelList.gaps()]);
    const noted = (): string => {
      last = { text: writeRound(round), isOver: isRead };
      return last.text;
    };
    const without = (early: readonly PlatformEvent[]): string => {
      for (const { id } of early) {
        const event = events.get(id);
        if (event === undefined) continue;
        const fromMs = Math.min(
          millisecondsOf(event.message),
          round.unread.get(event.place)?.fromMs ?? Infinity,
        );
        round.unread.set(event.place, { fromMs });
      }
      return noted();
    };
    missed.keep?.(noted(), moreInMs(left), without);
    return [...events.values()].toSorted(
      ({ message: one }, { message: other }) =>
        millisecondsOf(one) - millisecondsOf(other) || one.localeCompare(other),
    );
  }

  return (missed: Missed): Promise<readonly PersonEvent[]> =>
    look(missed).catch((error: unknown) => {
      const { reason } = faultOf(error);
      log.debug("Slack could not be read back", { error: reasonOf(error) });
      throw new Error(reason, { cause: error });
    });
}
