/** The errors that the client's calls reject with: one class per cause, all with the same facts. */

/** `refused`: it did not happen. `not-sent`: it never arrived. `unknown`: it may have happened. */
export type Certainty = "refused" | "not-sent" | "unknown";

/** The facts that every error of the client has. */
export interface ErrorFacts {
  readonly certainty: Certainty;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** One sentence for people. */
  readonly reason: string;
  readonly status?: number | undefined;
  /** Last segment of the problem document's `type`. */
  readonly code?: string | undefined;
  /** Where a person can fix the cause. */
  readonly link?: string | undefined;
  /** The provider whose account must be connected at `link`. */
  readonly provider?: string | undefined;
  /** How long the service asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Identifies the request to the service's operators. */
  readonly traceId?: string | undefined;
}

/** Base class of every error of the client. Neither it nor its `cause` contains the API key. */
export class AgentRunsError extends Error implements ErrorFacts {
  override readonly name: string = "AgentRunsError";
  readonly certainty: Certainty;
  readonly retryable: boolean;
  readonly reason: string;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly link: string | undefined;
  readonly provider: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly traceId: string | undefined;

  constructor(facts: ErrorFacts, options?: ErrorOptions) {
    super(facts.reason, options);
    this.certainty = facts.certainty;
    this.retryable = facts.retryable;
    this.reason = facts.reason;
    this.status = facts.status;
    this.code = facts.code;
    this.link = facts.link;
    this.provider = facts.provider;
    this.retryAfterMs = facts.retryAfterMs;
    this.traceId = facts.traceId;
  }
}

/** A status other than 2xx that has no class of its own, such as a redirect, which is never followed. */
export class StatusError extends AgentRunsError {
  override readonly name: string = "StatusError";
}

/** 400: the request is invalid, or (cancel) the run has already ended. */
export class BadRequestError extends StatusError {
  override readonly name = "BadRequestError";
}

/** 401: the API key is missing or wrong, or (`link`) an external account must be connected first. */
export class AuthenticationError extends StatusError {
  override readonly name = "AuthenticationError";
}

/** 403: the key may not do this, or credits, budget or a policy forbid it. */
export class PermissionDeniedError extends StatusError {
  override readonly name = "PermissionDeniedError";
}

/** 404: there is no such run, conversation or factory. */
export class NotFoundError extends StatusError {
  override readonly name = "NotFoundError";
}

/** 409: not possible in the present state, but perhaps soon (a run that is being prepared). */
export class ConflictError extends StatusError {
  override readonly name = "ConflictError";
}

/** 422: the operation is not supported for this run. */
export class UnprocessableEntityError extends StatusError {
  override readonly name = "UnprocessableEntityError";
}

/** 429: too many requests, or a limited resource is used up for now. */
export class RateLimitError extends StatusError {
  override readonly name = "RateLimitError";
}

/** 500 and above: the service, or a proxy in front of it, failed. */
export class ServerError extends StatusError {
  override readonly name = "ServerError";
}

/** No answer, or one that broke off: DNS, refused or reset connections, TLS. `cause` says which. */
export class ConnectionError extends AgentRunsError {
  override readonly name: string = "ConnectionError";
}

/** The whole answer did not arrive within `timeoutMs`. */
export class RequestTimeoutError extends ConnectionError {
  override readonly name = "RequestTimeoutError";
}

/** The caller's `signal` was aborted: before the request, during it, or between two tries. */
export class RequestAbortedError extends AgentRunsError {
  override readonly name = "RequestAbortedError";
}

/**
 * A request that must not be made twice (create, follow-up, dispatch) broke off, timed out, was aborted, failed
 * at the server (5xx) or was redirected to a result after it was sent, so its outcome is unknown. `cause` is the
 * error that says how; its facts are repeated here. Look the outcome up before you repeat the request.
 */
export class AmbiguousOutcomeError extends AgentRunsError {
  override readonly name = "AmbiguousOutcomeError";
  override readonly cause: AgentRunsError;

  constructor(cause: AgentRunsError) {
    super({ ...cause, certainty: "unknown" }, { cause });
    this.message = `${cause.reason} Whether the request was carried out is unknown; look before you repeat it.`;
    this.cause = cause;
  }
}

/** A 2xx answer whose body is not JSON or breaks the schema; a write has happened, with an unreadable result. */
export class ResponseSchemaError extends AgentRunsError {
  override readonly name = "ResponseSchemaError";
  /** The missing or malformed fields of the answer, as in `runs.3.state`; `the body` is the whole of it. */
  readonly fields: readonly string[];

  constructor(facts: ErrorFacts, fields: readonly string[], options?: ErrorOptions) {
    super(facts, options);
    this.fields = fields;
  }
}

/** The arguments break the API's contract; nothing was sent. */
export class InvalidRequestError extends AgentRunsError {
  override readonly name = "InvalidRequestError";
  /** The missing or malformed fields of the request; empty if the error concerns no field. */
  readonly fields: readonly string[];

  constructor(reason: string, fields: readonly string[] = [], options?: ErrorOptions) {
    super({ certainty: "not-sent", retryable: false, reason }, options);
    this.fields = fields;
  }
}

/** Several factories have the given name; nothing was dispatched. */
export class AmbiguousFactoryError extends AgentRunsError {
  override readonly name = "AmbiguousFactoryError";
}
