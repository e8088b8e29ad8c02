/** Finds the failed deliveries of a webhook, reads their events and requests their redelivery. */
import type { Octokit } from "@octokit/rest";
import type { Log } from "#base/log.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Fault } from "#core/outcome.ts";
import { faultOf } from "#github/faults.ts";
import { eventOf, events } from "#github/understand/event-of.ts";
import { type AttemptItem, attempt, deliveredPayload } from "#github/understand/payload.ts";
import type { AskIdentity } from "#github/understand/translate.ts";
import { newestFirst } from "./newest-first.ts";

/** Most redeliveries that one look requests. */
const mostAtOnce = 1_000;
/** Most successful deliveries that one look reads again because an older one had failed. */
const mostReread = 1_000;

/** Thrown when more deliveries failed than one look can have repeated. */
export class StillMore extends Error {
  constructor() {
    super("More deliveries failed than are repeated at once; the others follow.");
    this.name = "StillMore";
  }
}

/** One event that GitHub tried to deliver, with the first and the last attempt. */
interface Delivered {
  readonly guid: string;
  readonly event: string;
  readonly repository: string;
  readonly first: AttemptItem;
  readonly last: AttemptItem;
  /** Milliseconds since the epoch; Infinity: no attempt succeeded. */
  readonly arrivedMs: number;
  /** An attempt that was not a redelivery failed. */
  readonly failedByItself: boolean;
}

const isOk = ({ status_code }: AttemptItem): boolean => status_code >= 200 && status_code < 300;
const timeOf = ({ delivered_at }: AttemptItem): number => Date.parse(delivered_at);
const concernsUs = ({ event, action }: AttemptItem): boolean =>
  action !== null && action !== undefined && (events[event]?.includes(action) ?? false);

/** Groups attempts by event, oldest first. */
function byEvent(newest: readonly AttemptItem[]): readonly Delivered[] {
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

/** Returns comments that may have been ignored because an older event of their repository was still missing. */
function leftAlone(deliveries: readonly Delivered[]): readonly Delivered[] {
  const late = deliveries.filter(({ failedByItself }) => failedByItself);
  return deliveries.filter(
    (one) =>
      one.event === "issue_comment" &&
      late.some(
        ({ repository, first, arrivedMs }) =>
          repository === one.repository && timeOf(first) < one.arrivedMs && one.arrivedMs <= arrivedMs,
      ),
  );
}

/** Which deliveries to look at. */
export interface HookLook {
  readonly octokit: Octokit;
  /** The path of the list: of the App's webhook or of a repository's. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Options of `createHookDeliveries`. */
export interface HookDeliveriesOptions {
  readonly identity: AskIdentity;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** GUIDs of the deliveries that GitHub was asked to repeat. */
  readonly asked: { has(guid: string): boolean; set(guid: string, asked: true): unknown };
}

/** Creates the function that finds the missed events in a webhook's deliveries. */
export function createHookDeliveries({ identity, log, now, asked }: HookDeliveriesOptions) {
  async function read(
    { octokit, path }: HookLook,
    { guid, event, last }: Delivered,
  ): Promise<PlatformEvent[]> {
    const answer = await octokit.request(`GET ${path}/${last.id}`).catch((error: unknown) => {
      const fault = faultOf(error, now());
      if (fault.retryable) throw error;
      // GitHub deletes deliveries after three days.
      log.debug("A GitHub delivery can't be read", { guid, reason: fault.reason });
      return null;
    });
    const payload = deliveredPayload.safeParse(answer?.data).data?.request.payload;
    const found = await eventOf(payload, { event, id: guid }, identity);
    return found === null || found === undefined ? [] : [found];
  }

  /** Requests redeliveries. Returns the fault that stopped it; a final refusal of one delivery does not. */
  async function redeliver(
    { octokit, path }: HookLook,
    deliveries: readonly Delivered[],
  ): Promise<Fault | null> {
    for (const { guid, last } of deliveries) {
      try {
        await octokit.request(`POST ${path}/${last.id}/attempts`);
      } catch (error) {
        const fault = faultOf(error, now());
        if (fault.retryable) return fault;
        log.debug("GitHub does not repeat a delivery", { guid, reason: fault.reason });
      }
      asked.set(guid, true);
    }
    return null;
  }

  /**
   * Requests one redelivery of each failed delivery and returns their events, oldest first. Redeliveries arrive in
   * any order, and a comment that overtakes its label would be ignored. So the events are also read here, in
   * order; the redelivered ones have the same ids. Rejects as requests do.
   */
  return async function missedBy(look: HookLook): Promise<PlatformEvent[]> {
    const { octokit, path, sinceMs } = look;
    const pages = octokit.paginate.iterator(`GET ${path}`, { per_page: 100 });
    const newest = await newestFirst(pages, attempt, timeOf, sinceMs);
    if (!newest.complete) log.warn("Not all of GitHub's deliveries are read", { path });
    const deliveries = byEvent(newest.items);
    const failed = deliveries.filter(({ arrivedMs }) => arrivedMs === Number.POSITIVE_INFINITY);
    const fresh = failed.filter(({ guid }) => !asked.has(guid));
    if (fresh.length > mostAtOnce) {
      await redeliver(look, fresh.slice(0, mostAtOnce));
      throw new StillMore();
    }
    // If only a redelivery failed since, the event was read when its first attempt had failed.
    const unread = new Set(failed.filter(({ guid, failedByItself }) => failedByItself || !asked.has(guid)));
    const reread = new Set(leftAlone(deliveries).slice(-mostReread));
    const events: PlatformEvent[] = [];
    for (const one of deliveries) {
      if (unread.has(one) || reread.has(one)) events.push(...(await read(look, one)));
    }
    const stopped = await redeliver(look, fresh);
    if (stopped !== null) {
      log.warn("Not every failed delivery could be repeated", { reason: stopped.reason });
    }
    return events;
  };
}
