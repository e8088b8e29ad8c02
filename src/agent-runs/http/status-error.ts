import * as errors from "../errors.ts";
import { type ErrorCode, errorCodes } from "../schema/problem.ts";
import { readProblem } from "./read-problem.ts";
import type { Answer } from "./reply.ts";
import { retryAfterMs } from "./retry-after.ts";

const isKnownCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

/** True if the status alone says that the same request may succeed later; 408 is the server's own time-out. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500;

/** The value of `x-should-retry`, which overrides everything else, as in the service's own SDKs. */
export function shouldRetry(headers: Headers): boolean | undefined {
  const header = headers.get("x-should-retry");
  return header === "true" || header === "false" ? header === "true" : undefined;
}

function retryable(answer: Answer, code: string | undefined, claimed: boolean | undefined): boolean {
  const said = shouldRetry(answer.headers) ?? claimed;
  if (said !== undefined) return said;
  return code !== undefined && isKnownCode(code) ? errorCodes[code].retryable : isTransient(answer.status);
}

/**
 * Statuses below 500 of writes that may have been carried out: a time-out between the service and a proxy (408,
 * 499), and a redirect to what a write has made (302, 303; 0 where `fetch` hides the redirect's status).
 */
const unsureStatuses = new Set([0, 302, 303, 408, 499]);

/** A proxy, or the service itself, may answer a write with a 5xx after it was accepted, even with `Retry-After`. */
const certainty = (status: number, writes: boolean): errors.Certainty =>
  writes && (status >= 500 || unsureStatuses.has(status)) ? "unknown" : "refused";

/** Each status with its class, and the rest of the sentence for an answer that has no detail. */
const statuses: ReadonlyMap<number, readonly [typeof errors.StatusError, string]> = new Map([
  [400, [errors.BadRequestError, "rejected the request as invalid"]],
  [401, [errors.AuthenticationError, "does not accept the API key"]],
  [403, [errors.PermissionDeniedError, "does not permit this"]],
  [404, [errors.NotFoundError, "found nothing there"]],
  [409, [errors.ConflictError, "can't do this in the present state"]],
  [422, [errors.UnprocessableEntityError, "does not support this here"]],
  [429, [errors.RateLimitError, "is limiting requests at the moment"]],
]);

function classAndWords(status: number): readonly [typeof errors.StatusError, string] {
  const known = statuses.get(status);
  if (known !== undefined) return known;
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  if (isRedirect) {
    return [
      errors.StatusError,
      "redirected the request, and redirects are not followed; its base URL may be wrong",
    ];
  }
  return [status >= 500 ? errors.ServerError : errors.StatusError, `answered with status ${status}`];
}

/**
 * The error for an answer that is not 2xx. `writes`: the request asked for a change. `redact` removes secrets
 * from the service's text: some servers repeat the key that they refuse. `nowMs` is since the epoch.
 */
export function statusError(
  answer: Answer,
  writes: boolean,
  redact: (text: string) => string,
  nowMs: number,
): errors.StatusError {
  const { retryable: claimed, ...problem } = readProblem(redact(answer.body));
  const [StatusClass, words] = classAndWords(answer.status);
  return new StatusClass({
    ...problem,
    certainty: certainty(answer.status, writes),
    retryable: retryable(answer, problem.code, claimed),
    reason: problem.reason ?? `The Agent Runs API ${words}.`,
    status: answer.status,
    retryAfterMs: retryAfterMs(answer.headers, nowMs),
  });
}
