import { z } from "zod";

/** Problem document, RFC 7807; `type` ends in the error code. */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().optional(),
  error: z.string().optional(),
  detail: z.string().nullish(),
  instance: z.string().nullish(),
  retryable: z.boolean().nullish(),
  trace_id: z.string().nullish(),
  auth_url: z.string().nullish(),
  provider: z.string().nullish(),
});
export type Problem = z.infer<typeof problem>;

/** Error code → HTTP status and whether the same request may succeed later. */
export const errorCodes = {
  authentication_required: { status: 401, retryable: false },
  external_authentication_required: { status: 401, retryable: false },
  invalid_request: { status: 400, retryable: false },
  integration_not_configured: { status: 400, retryable: false },
  insufficient_credits: { status: 403, retryable: false },
  budget_exceeded: { status: 403, retryable: false },
  feature_not_available: { status: 403, retryable: false },
  integration_disabled: { status: 403, retryable: false },
  not_authorized: { status: 403, retryable: false },
  content_policy_violation: { status: 403, retryable: false },
  resource_not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: true },
  operation_not_supported: { status: 422, retryable: false },
  resource_unavailable: { status: 429, retryable: true },
  environment_setup_failed: { status: 500, retryable: false },
  internal_error: { status: 500, retryable: true },
} as const;
export type ErrorCode = keyof typeof errorCodes;
