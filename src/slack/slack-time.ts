/** Slack's own time: the bot's clock and Slack's may differ, and are never compared. */
import { windowStart } from "#base/window.ts";
import type { Clock } from "#ports.ts";

/** Slack's clock, as the `Date` headers of its responses show it. Times are in milliseconds since the epoch. */
export interface SlackTime {
  /** Returns Slack's time; our own before Slack's first response. */
  now(): number;
  /** Returns the time of Slack before which nothing happened that our clock dates after `since`. */
  windowFrom(since: string): number;
  /** `fetch` that notes the time of each response. */
  readonly fetch: typeof fetch;
}

/** Creates Slack's clock, which runs on between the responses; `call` makes the requests. */
export function createSlackTime(
  clock: Pick<Clock, "now" | "elapsed">,
  call: typeof fetch = fetch,
): SlackTime {
  let aheadOfElapsedMs: number | null = null;
  const now = (): number => (aheadOfElapsedMs === null ? clock.now() : aheadOfElapsedMs + clock.elapsed());
  return {
    now,
    windowFrom: (since) => windowStart(now(), clock.now() - Date.parse(since)),
    async fetch(input, init) {
      const response = await call(input, init);
      const servedAt = Date.parse(response.headers.get("date") ?? "");
      if (!Number.isNaN(servedAt)) aheadOfElapsedMs = servedAt - clock.elapsed();
      return response;
    },
  };
}
