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
 * A proxy may answer a write with a 5xx after the service accepted it. A 503 with `Retry-After`
 * means that the request was refused.
 */
function certainty(status: number, writes: boolean, waitMs: number | undefined): errors.Certainty {
  if (!writes || status < 500) return "refused";
  return status === 503 && waitMs !== undefined ? "refused" : "unknown";
}

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
  const waitMs = retryAfterMs(answer.headers, nowMs);
  const [StatusClass, words] = classAndWords(answer.status);
  return new StatusClass({
    ...problem,
    certainty: certainty(answer.status, writes, waitMs),
    retryable: retryable(answer, problem.code, claimed),
    reason: problem.reason ?? `The Agent Runs API ${words}.`,
    status: answer.status,
    retryAfterMs: waitMs,
  });
}
