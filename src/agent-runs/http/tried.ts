/** One request and its result, for a log. It holds no key, no query, no other header and nothing of a body. */
export interface Tried {
  readonly method: string;
  /** Of the URL, without the query, which may hold texts of people. */
  readonly path: string;
  /** 1 for the first try of a call. */
  readonly number: number;
  /** HTTP status; absent if no complete response arrived. */
  readonly status?: number | undefined;
  /** The reason why no complete response arrived, as a sentence. */
  readonly error?: string | undefined;
  readonly durationMs: number;
}

/** Calls the hook. What it throws is ignored, lest the result of a write is lost. */
export function note(hook: ((tried: Tried) => void) | undefined, tried: Tried): void {
  try {
    hook?.(tried);
  } catch {}
}
