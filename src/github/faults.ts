/** What went wrong with a request to GitHub, as a fault of the effect. Nothing is read from error messages. */
import { z } from "zod";
import type { Fault } from "#core/outcome.ts";

/** GitHub asks for at least a minute where it names no time. */
const unnamedLimitMs = 60_000;

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

/** The connection was never made, so nothing can have happened. */
const neverConnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function codesOf(error: unknown): string[] {
  if (typeof error !== "object" || error === null) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  return "cause" in error ? [...own, ...codesOf(error.cause)] : own;
}

const statusOf = (error: unknown): number | null => {
  const { data } = requestError.safeParse(error);
  return data?.response === undefined ? null : data.status;
};

/** True if GitHub answered with this status. */
export const hasStatus = (error: unknown, status: number): boolean => statusOf(error) === status;

/** How long GitHub wants to be left alone; null if this is no rate limit. `now` in milliseconds. */
function limitOf(status: number, { headers, data }: Response, now: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const retryAfter = Number(headers["retry-after"]);
  if (Number.isFinite(retryAfter)) return Math.max(1, retryAfter) * 1000;
  if (headers["x-ratelimit-remaining"] === "0") {
    const reset = Number(headers["x-ratelimit-reset"]) * 1000;
    return Number.isFinite(reset) ? Math.max(1000, reset - now) : unnamedLimitMs;
  }
  const limited = problem.safeParse(data).data?.documentation_url?.includes("rate-limit") ?? false;
  return status === 429 || limited ? unnamedLimitMs : null;
}

function reasonOf(status: number, { headers }: Response): string {
  switch (status) {
    case 401:
      return "GitHub does not accept the bot's credentials.";
    case 403: {
      const needed = headers["x-accepted-github-permissions"];
      const permission =
        typeof needed === "string" && needed !== "" ? needed : "issues=write; pull_requests=write";
      return `GitHub does not let the bot do this: the conversation is locked, or the bot lacks a permission (${permission}).`;
    }
    case 404:
      return "GitHub shows the bot no such thing: it was deleted, or the bot has no access to the repository.";
    case 410:
      return "It was deleted on GitHub, or issues are turned off in the repository.";
    case 422:
      return "GitHub found the request invalid.";
    default:
      return `GitHub refused the request (HTTP ${status}).`;
  }
}

/** `now` in milliseconds since the epoch. */
export function faultOf(error: unknown, now: number): Fault {
  const { data } = requestError.safeParse(error);
  if (data?.response === undefined) {
    const unsent = codesOf(error).some((code) => neverConnected.has(code));
    return unsent
      ? { certainty: "not-sent", retryable: true, reason: "GitHub could not be reached." }
      : { certainty: "unknown", retryable: true, reason: "GitHub gave no answer that could be understood." };
  }
  const { status, response } = data;
  const retryAfterMs = limitOf(status, response, now);
  if (retryAfterMs !== null) {
    const reason = "GitHub limits how much the bot may do at the moment.";
    return { certainty: "refused", retryable: true, limited: true, reason, retryAfterMs };
  }
  if (status >= 500) {
    return {
      certainty: "unknown",
      retryable: true,
      reason: `GitHub had an error of its own (HTTP ${status}).`,
    };
  }
  const code = problem.safeParse(response.data).data?.errors?.[0]?.code;
  // Credentials may be renewed while the effect waits: an end that was not told yet must not be lost by it.
  const retryable = status === 401;
  const fault: Fault = { certainty: "refused", retryable, reason: reasonOf(status, response) };
  return code === undefined ? fault : { ...fault, code };
}

/** An effect that this platform can't perform, whatever GitHub says. */
export const impossible = (reason: string): Fault => ({ certainty: "refused", retryable: false, reason });
