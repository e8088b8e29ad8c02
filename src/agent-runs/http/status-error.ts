import * as errors from "../errors.ts";
import { type ErrorCode, errorCodes } from "../schema.ts";
import { readProblem } from "./read-problem.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const isKnownCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

/** Status that says by itself that the same request may succeed later; 408 is the server's own time-out. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500;

/** What `x-should-retry` says: the service's last word, for its own SDKs too. */
export function shouldRetry(headers: Headers): boolean | undefined {
  const header = headers.get("x-should-retry");
  return header === "true" || header === "false" ? header === "true" : undefined;
}

function retryable(answer: Answer, code: string | undefined, claimed: boolean | undefined): boolean {
  const said = shouldRetry(answer.headers) ?? claimed;
  if (said !== undefined) return said;
  if (code !== undefined && isKnownCode(code)) return errorCodes[code].retryable;
  return isTransient(answer.status);
}

/**
 * A 5xx to a write may come from something in between, after the service took the request. A 503 that says
 * when to come again was answered by somebody who turned it away.
 */
function certainty(status: number, writes: boolean, waitMs: number | undefined): errors.Certainty {
  if (!writes || status < 500) return "refused";
  return status === 503 && waitMs !== undefined ? "refused" : "unknown";
}

function sentence(status: number): string {
  if (status === 0 || (status >= 300 && status < 400)) {
    return "The Agent Runs API redirected the request, which is not followed; its base URL may be wrong.";
  }
  switch (status) {
    case 400:
      return "The Agent Runs API found the request invalid.";
    case 401:
      return "The Agent Runs API does not accept the API key.";
    case 403:
      return "The Agent Runs API does not permit this.";
    case 404:
      return "The Agent Runs API found nothing there.";
    case 409:
      return "The Agent Runs API can't do this in the present state.";
    case 422:
      return "The Agent Runs API does not support this here.";
    case 429:
      return "The Agent Runs API is limiting requests at the moment.";
    default:
      return `The Agent Runs API answered with status ${status}.`;
  }
}

function classFor(status: number): typeof errors.StatusError {
  switch (status) {
    case 400:
      return errors.BadRequestError;
    case 401:
      return errors.AuthenticationError;
    case 403:
      return errors.PermissionDeniedError;
    case 404:
      return errors.NotFoundError;
    case 409:
      return errors.ConflictError;
    case 422:
      return errors.UnprocessableEntityError;
    case 429:
      return errors.RateLimitError;
    default:
      return status >= 500 ? errors.ServerError : errors.StatusError;
  }
}

/**
 * The error for an answer that is not 2xx. `writes`: the request asked for a change. `redact` takes secrets
 * out of what the service wrote: some servers repeat the key that they refuse. `nowMs` is since the epoch.
 */
export function statusError(
  answer: Answer,
  writes: boolean,
  redact: (text: string) => string,
  nowMs: number,
): errors.StatusError {
  const problem = readProblem(redact(answer.body));
  const waitMs = retryAfterMs(answer.headers, nowMs);
  const StatusClass = classFor(answer.status);
  return new StatusClass({
    certainty: certainty(answer.status, writes, waitMs),
    retryable: retryable(answer, problem.code, problem.retryable),
    reason: problem.detail ?? sentence(answer.status),
    status: answer.status,
    code: problem.code,
    link: problem.authUrl,
    provider: problem.provider,
    retryAfterMs: waitMs,
    traceId: problem.traceId,
  });
}
