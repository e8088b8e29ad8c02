import { type ErrorCode, errorCodes, type Problem } from "#agent-runs/schema.ts";

/** Why a request is refused. `status` overrides the code's own HTTP status. */
export interface Refusal {
  readonly code: ServiceCode;
  readonly detail: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
export interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}
/** The outcome of a request, or of a part of it. */
export type Result<T> = { readonly ok: true; readonly value: T } | Refused;

/** The error codes that this service uses. */
export type ServiceCode = Extract<
  ErrorCode,
  | "authentication_required"
  | "invalid_request"
  | "not_authorized"
  | "resource_not_found"
  | "conflict"
  | "operation_not_supported"
  | "resource_unavailable"
  | "internal_error"
>;

const titles: Readonly<Record<ServiceCode, string>> = {
  authentication_required: "Authentication required",
  invalid_request: "Invalid request",
  not_authorized: "Not authorized",
  resource_not_found: "Not found",
  conflict: "Conflict",
  operation_not_supported: "Operation not supported",
  resource_unavailable: "Unavailable for now",
  internal_error: "Internal error",
};

export const refused = (
  code: ServiceCode,
  detail: string,
  more?: Pick<Refusal, "status" | "headers">,
): Refused => ({ ok: false, refusal: { code, detail, ...more } });

/** Refuses because there is no `kind` with this id, which may be as long as a URL. */
export const missing = (kind: string, id: string): Refused =>
  refused("resource_not_found", `There is no ${kind} ${id.length > 100 ? `${id.slice(0, 100)}…` : id}.`);

/** For a response whose body is JSON text. */
export const jsonHeaders = {
  headers: { "content-type": "application/json", "cache-control": "no-store" },
};

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
