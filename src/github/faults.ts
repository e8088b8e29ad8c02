/** Failed requests to GitHub as faults of effects. They are not told apart by their messages. */
import { z } from "zod";
import { internalError, rateLimited, retryAfterMs, unanswered } from "#base/network-fault.ts";
import type { Fault } from "#core/outcome.ts";

/** GitHub asks clients to wait at least a minute if the response names no time. */
const unnamedLimitMs = 60_000;
/** GitHub counts requests by the hour. */
const longestLimitMs = 60 * 60_000;

/** Octokit's RequestError; `response` is missing if there was no answer. */
const requestError = z.object({
  status: z.number(),
  response: z.object({ headers: z.record(z.string(), z.unknown()), data: z.unknown().optional() }).optional(),
});
type Response = NonNullable<z.infer<typeof requestError>["response"]>;

const problem = z.object({
  documentation_url: z.string().optional(),
  errors: z.array(z.object({ code: z.string().optional() })).optional(),
});

/** Whether `error` is a request that GitHub answered with this HTTP status. */
export function hasStatus(error: unknown, status: number): boolean {
  const { data } = requestError.safeParse(error);
  return data?.response !== undefined && data.status === status;
}

/** Whether the request failed because GitHub knows nothing, or no longer anything, at its address. */
export function isElsewhere(error: unknown): boolean {
  if (error instanceof NotRepeated) return isElsewhere(error.cause);
  return [301, 302, 307, 308, 404, 410].some((status) => hasStatus(error, status));
}

/** Returns the milliseconds that a rate limit lasts; null: the response is not about one. `now` in milliseconds. */
function limitOf(status: number, { headers, data }: Response, now: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const named = retryAfterMs(headers["retry-after"]);
  if (named !== undefined) return named;
  if (headers["x-ratelimit-remaining"] === "0") {
    const reset = Number(headers["x-ratelimit-reset"]) * 1000;
    // By GitHub's own clock: ours may be wrong.
    const leftMs = reset - (Date.parse(String(headers.date)) || now);
    return Number.isFinite(leftMs) ? Math.min(Math.max(1000, leftMs), longestLimitMs) : unnamedLimitMs;
  }
  const limited = problem.safeParse(data).data?.documentation_url?.includes("rate-limit") ?? false;
  return status === 429 || limited ? unnamedLimitMs : null;
}

function reasonOf(status: number, { headers }: Response): string {
  switch (status) {
    case 401:
      return "GitHub does not accept the bot's credentials.";
    case 403: {
      const permission = headers["x-accepted-github-permissions"] || "issues=write; pull_requests=write";
      return `GitHub does not let the bot do this: the conversation is locked, or the bot lacks a permission (${permission}).`;
    }
    case 404:
      return "GitHub did not find it: it was deleted, or the bot has no access to the repository.";
    case 410:
      return "It was deleted on GitHub, or issues are turned off in the repository.";
    case 422:
      return "GitHub found the request invalid.";
    default:
      return `GitHub refused the request (HTTP ${status}).`;
  }
}

/** Thrown if an earlier try of an effect was not found, or could not be searched for: nothing was done. */
export class NotRepeated extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.reason, options);
    this.name = "NotRepeated";
    this.fault = fault;
  }
}

/** Returns the error for a search that failed with `error`: an earlier try may have succeeded all the same. */
export const searchFailed = (error: unknown, now: number): NotRepeated =>
  new NotRepeated({ ...faultOf(error, now), certainty: "unknown", searching: true }, { cause: error });

/** Returns the fault of an effect whose request failed with `error`. `now` in milliseconds since the epoch. */
export function faultOf(error: unknown, now: number): Fault {
  if (error instanceof NotRepeated) return error.fault;
  const { data } = requestError.safeParse(error);
  if (data?.response === undefined) return unanswered("GitHub", error);
  const { status, response } = data;
  const limitMs = limitOf(status, response, now);
  if (limitMs !== null) return rateLimited("GitHub", limitMs);
  if (status >= 500) return internalError("GitHub", `HTTP ${status}`);
  const code = problem.safeParse(response.data).data?.errors?.[0]?.code;
  // Credentials may be renewed while the effect waits, and people must still learn that their run has ended.
  const retryable = status === 401;
  const fault: Fault = { certainty: "refused", retryable, reason: reasonOf(status, response) };
  return code === undefined ? fault : { ...fault, code };
}

/** Returns the fault of an effect that makes no sense on GitHub. */
export const impossible = (reason: string): Fault => ({ certainty: "refused", retryable: false, reason });
