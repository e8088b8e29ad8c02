import { z } from "zod";

const words = z.string().trim().min(1).optional().catch(undefined);
/** Every field by itself: one that is missing or of another shape must not spoil the others. */
const document = z.looseObject({
  type: words,
  title: words,
  error: words,
  detail: words,
  message: words,
  trace_id: words,
  provider: words,
  // People are shown it as a link.
  auth_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .catch(undefined),
  retryable: z.boolean().optional().catch(undefined),
});

export interface Problem {
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly traceId?: string | undefined;
  readonly authUrl?: string | undefined;
  readonly provider?: string | undefined;
}

const codeShape = /^[a-z][a-z0-9_.-]{0,63}$/i;
const longestDetail = 500;

/** `about:blank` is RFC 7807's "no type". */
function codeOf(type: string | undefined): string | undefined {
  const last = type?.replace(/\/+$/, "").split(/[/#]/).at(-1);
  return last !== undefined && codeShape.test(last) ? last : undefined;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** What a body tells of a failure: of a problem document (RFC 7807) all, of HTML or garbage nothing. */
export function readProblem(body: string): Problem {
  const read = document.safeParse(parse(body));
  if (!read.success) return {};
  const { type, title, error, detail, message, trace_id, auth_url, provider, retryable } = read.data;
  return {
    code: codeOf(type),
    detail: (detail ?? error ?? message ?? title)?.slice(0, longestDetail),
    retryable,
    traceId: trace_id,
    authUrl: auth_url,
    provider,
  };
}
