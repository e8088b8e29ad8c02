/** Descriptions of worlds that lag behind their writes, answer late or not at all, and step their clocks. */

/** A fault of writes: they are performed, but their sender does not learn so. Shares are 0 to 1. */
export interface LostAnswers {
  /** Performed, and the connection is cut. */
  readonly cut?: number;
  /** Performed, and answered with status 503. */
  readonly unavailable?: number;
  /** Performed `lateMs` after the request, whose connection is cut first. */
  readonly late?: number;
  readonly lateMs?: number;
  /** Refused with status 429 and `Retry-After: 1`. */
  readonly limited?: number;
}

/** A badly behaving Agent Runs API. Times are in milliseconds. */
export interface BadApi {
  readonly creates?: LostAnswers;
  readonly followUps?: LostAnswers;
  /** Lists show new runs and changes so much later. */
  readonly listLagMs?: number;
  /** A single run is readable so much later. */
  readonly fetchLagMs?: number;
  readonly conversationLagMs?: number;
  /** The filter by metadata is ignored. */
  readonly ignoresMetadata?: boolean;
  /** The runs of one page have the same time and come in changing order. */
  readonly unsorted?: boolean;
  /** Added to every time that it gives, by the milliseconds since its start: a clock that steps or jitters. */
  readonly clockMs?: (sinceStartMs: number) => number;
}

/** A badly behaving platform. */
export interface BadPlatform {
  readonly posts?: LostAnswers;
  readonly edits?: LostAnswers;
  /** Lists show new messages so much later. */
  readonly listLagMs?: number;
}

/** A world around the bot. */
export interface BadWorld {
  /** Steps of the clock of the bot's machine: from then on it differs from the real one by `byMs`. */
  readonly ownClock?: readonly { readonly afterMs: number; readonly byMs: number }[];
  readonly api?: BadApi;
  readonly slack?: BadPlatform;
  readonly github?: BadPlatform;
}
