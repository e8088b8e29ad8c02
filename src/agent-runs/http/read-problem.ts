import { z } from "zod";

const words = z.string().trim().min(1).optional().catch(undefined);
/** Each field is read by itself, so that one of another shape does not spoil the others. */
const document = z.looseObject({
  type: words,
  title: words,
  error: words,
  detail: words,
  message: words,
  trace_id: words,
  provider: words,
  // People see it as a link.
  auth_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .catch(undefined),
  retryable: z.boolean().optional().catch(undefined),
});

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

/** Reads a problem document (RFC 7807). Every field is undefined for HTML and other text. */
export function readProblem(body: string) {
  const read = document.safeParse(parse(body)).data;
  return {
    code: codeOf(read?.type),
    reason: (read?.detail ?? read?.error ?? read?.message ?? read?.title)?.slice(0, longestDetail),
    retryable: read?.retryable,
    traceId: read?.trace_id,
    link: read?.auth_url,
    provider: read?.provider,
  };
}
