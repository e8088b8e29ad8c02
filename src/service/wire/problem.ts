import { type ErrorCode, errorCodes, type Problem } from "#agent-runs/schema.ts";

/** Why a request is refused. `status` overrides the code's own HTTP status. */
export interface Refusal {
  readonly code: ServiceCode;
  readonly detail: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal as an outcome. */
export interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}
/** The outcome of a request, or of a part of it. */
export type Result<T> = { readonly ok: true; readonly value: T } | Refused;

const titles = {
  authentication_required: "Authentication required",
  invalid_request: "Invalid request",
  not_authorized: "Not authorized",
  resource_not_found: "Not found",
  conflict: "Conflict",
  operation_not_supported: "Operation not supported",
  resource_unavailable: "Temporarily unavailable",
  internal_error: "Internal error",
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The error codes that this service uses. */
export type ServiceCode = keyof typeof titles;

/** A refusal with a sentence about its cause. */
export const refused = (
  code: ServiceCode,
  detail: string,
  more?: Pick<Refusal, "status" | "headers">,
): Refused => ({ ok: false, refusal: { code, detail, ...more } });

/** Refuses because there is no `kind` with this id. Shortens the id, which may be as long as a URL. */
export const missing = (kind: string, id: string): Refused =>
  refused("resource_not_found", `There is no ${kind} ${id.length > 100 ? `${id.slice(0, 100)}…` : id}.`);

/** The problem document (RFC 9457); `instance` is the request's path. */
export function problemResponse(refusal: Refusal, instance: string, traceId: string): Response {
  const { code, detail, status = errorCodes[code].status, headers } = refusal;
  const title = titles[code];
  const problem: Problem = {
    type: `urn:agent-runs:problem/${code}`,
    title,
    status,
    error: `${title}: ${detail}`,
    detail,
    instance,
    retryable: errorCodes[code].retryable,
    trace_id: traceId,
  };
  return Response.json(problem, {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}
