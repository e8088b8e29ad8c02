import { type ErrorCode, errorCodes, type Problem } from "#agent-runs/schema.ts";

/** Why a request is not done; `status` where HTTP knows a better one than the code's. */
export interface Refusal {
  readonly code: ServiceCode;
  readonly detail: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** The codes that this service answers with. */
export type ServiceCode = Extract<
  ErrorCode,
  | "authentication_required"
  | "invalid_request"
  | "feature_not_available"
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
  feature_not_available: "Feature not available",
  not_authorized: "Not authorized",
  resource_not_found: "Not found",
  conflict: "Conflict",
  operation_not_supported: "Operation not supported",
  resource_unavailable: "Unavailable for now",
  internal_error: "Internal error",
};

export const refused = (code: ServiceCode, detail: string): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { code, detail },
});

/** There is no `what` of this id, which may be as long as an address can be. */
export const missing = (what: string, id: string): { ok: false; refusal: Refusal } =>
  refused("resource_not_found", `There is no ${what} ${id.length > 100 ? `${id.slice(0, 100)}…` : id}.`);

/** RFC 7807 problem document; `instance` is the request's path. */
export function problemResponse(refusal: Refusal, instance: string, traceId: string): Response {
  const { code, detail } = refusal;
  const status = refusal.status ?? errorCodes[code].status;
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
  return new Response(JSON.stringify(problem), {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...refusal.headers,
    },
  });
}
