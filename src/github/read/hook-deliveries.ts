/** A webhook's own record of its deliveries: which of them failed, what they said, and having them repeated. */
import type { Octokit } from "@octokit/rest";
import type { Log } from "#base/log.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Fault } from "#core/outcome.ts";
import { faultOf } from "#github/faults.ts";
import { events } from "#github/required-scopes.ts";
import { eventOf } from "#github/understand/event-of.ts";
import type { AskIdentity } from "#github/understand/identity.ts";
import { type AttemptItem, attempt, deliveredPayload } from "#github/understand/payload.ts";
import { newestFirst } from "./newest-first.ts";

/** So many are asked for again in one look, and no more. */
const mostAtOnce = 1_000;
/** So many that came through are read again for the sake of one that did not. */
const mostReread = 1_000;

/** Thrown when there is more to ask for again than one look may; the next one finds less. */
export class StillMore extends Error {
  constructor() {
    super("More deliveries failed than are asked for again at once; the others follow.");
    this.name = "StillMore";
  }
}

/** One thing that GitHub told, with every attempt to, oldest first. */
interface Told {
  readonly guid: string;
  readonly event: string;
  readonly repository: string;
  readonly first: AttemptItem;
  readonly last: AttemptItem;
  /** When it arrived, milliseconds since the epoch; Infinity: it has not. */
  readonly arrivedMs: number;
  /** Not counting attempts that were asked for. */
  readonly failedByItself: boolean;
}

const isOk = ({ status_code }: AttemptItem): boolean => status_code >= 200 && status_code < 300;
const timeOf = ({ delivered_at }: AttemptItem): number => Date.parse(delivered_at);
const concernsUs = ({ event, action }: AttemptItem): boolean =>
  action !== null && action !== undefined && (events[event]?.includes(action) ?? false);

/** Oldest first. */
function tellings(newest: readonly AttemptItem[]): readonly Told[] {
  const attempts = Map.groupBy(newest.filter(concernsUs).toReversed(), ({ guid }) => guid);
  return [...attempts].flatMap(([guid, all]) => {
    const [first] = all;
    const last = all.at(-1);
    if (first === undefined || last === undefined) return [];
    const ok = all.find(isOk);
    const arrivedMs = ok === undefined ? Number.POSITIVE_INFINITY : timeOf(ok);
    const failedByItself = all.some((one) => !one.redelivery && !isOk(one));
    const { event, repository_id: repository } = first;
    return [{ guid, event, repository, first, last, arrivedMs, failedByItself }];
  });
}

/** Comments that arrived while something older was missing may have been left alone for want of it. */
function leftAlone(told: readonly Told[]): readonly Told[] {
  const late = told.filter(({ failedByItself }) => failedByItself);
  return told.filter(
    (one) =>
      one.event === "issue_comment" &&
      late.some(
        ({ repository, first, arrivedMs }) =>
          repository === one.repository && timeOf(first) < one.arrivedMs && one.arrivedMs <= arrivedMs,
      ),
  );
}

export interface HookLook {
  readonly octokit: Octokit;
  /** Path of the deliveries: the App's webhook's, or a repository's webhook's. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

export interface HookDeliveriesOptions {
  readonly identity: AskIdentity;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** GUIDs that were asked for again. */
  readonly asked: { has(guid: string): boolean; set(guid: string, asked: true): unknown };
}

export function createHookDeliveries({ identity, log, now, asked }: HookDeliveriesOptions) {
  async function read({ octokit, path }: HookLook, { guid, event, last }: Told): Promise<PersonEvent[]> {
    const answer = await octokit.request(`GET ${path}/${last.id}`).catch((error: unknown) => {
      const fault = faultOf(error, now());
      if (fault.retryable) throw error;
      // GitHub has just forgotten it: it keeps deliveries for three days.
      log.debug("a delivery can't be read", { guid, reason: fault.reason });
      return null;
    });
    const payload = deliveredPayload.safeParse(answer?.data).data?.request.payload;
    const found = await eventOf(payload, { event, id: guid }, identity);
    return found === null || found === undefined ? [] : [found];
  }

  /** Stops at what may pass, and answers it; what GitHub refuses for good is left alone. */
  async function redeliver({ octokit, path }: HookLook, told: readonly Told[]): Promise<Fault | null> {
    for (const { guid, last } of told) {
      try {
        await octokit.request(`POST ${path}/${last.id}/attempts`);
      } catch (error) {
        const fault = faultOf(error, now());
        if (fault.retryable) return fault;
        log.debug("a delivery is not repeated by GitHub", { guid, reason: fault.reason });
      }
      asked.set(guid, true);
    }
    return null;
  }

  /**
   * Has everything of ours that failed since then delivered again, once, and answers what it said, oldest
   * first. Redeliveries arrive in any order, and a comment that overtook its label would be left alone: so
   * the events are handed over here, in their order, and the redelivered ones are the same events again.
   * Rejects as requests do.
   */
  return async function missedBy(look: HookLook): Promise<PersonEvent[]> {
    const { octokit, path, sinceMs } = look;
    const pages = octokit.paginate.iterator(`GET ${path}`, { per_page: 100 });
    const newest = await newestFirst(pages, attempt, timeOf, sinceMs);
    if (!newest.complete) log.warn("GitHub has more deliveries than are looked through", { path });
    const told = tellings(newest.items);
    const failed = told.filter(({ arrivedMs }) => arrivedMs === Number.POSITIVE_INFINITY);
    const fresh = failed.filter(({ guid }) => !asked.has(guid));
    if (fresh.length > mostAtOnce) {
      await redeliver(look, fresh.slice(0, mostAtOnce));
      throw new StillMore();
    }
    // One that failed again after it was asked for was read when it had failed by itself.
    const unread = new Set(failed.filter(({ guid, failedByItself }) => failedByItself || !asked.has(guid)));
    const reread = new Set(leftAlone(told).slice(-mostReread));
    const events: PersonEvent[] = [];
    for (const one of told) {
      if (unread.has(one) || reread.has(one)) events.push(...(await read(look, one)));
    }
    const stopped = await redeliver(look, fresh);
    if (stopped !== null) {
      log.warn("Not every failed delivery could be asked for again", { reason: stopped.reason });
    }
    return events;
  };
}
