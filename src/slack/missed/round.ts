/** How far Slack was read back, by its own clock: saved, so that no restart loses what is still unread. */
import { z } from "zod";
import type { Place, Scope } from "#core/place.ts";

/** A channel or a thread that is still to be read. */
export interface Unread {
  /** Earlier messages are read, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** Of a channel, whose newest messages are listed first: later messages than this timestamp are read. */
  readonly latest?: string;
}

/** One reading of all channels and threads. */
export interface Round {
  /** When it began: what was said earlier is read by it or by the rounds before. */
  readonly untilMs: number;
  readonly unread: Map<Place | Scope, Unread>;
}

const saved = z.object({
  untilMs: z.number(),
  unread: z.array(
    z.tuple([z.string(), z.object({ fromMs: z.number(), latest: z.string().exactOptional() })]),
  ),
});

/** Returns the round that `writeRound` wrote; null: the text is none. */
export function readRound(text: string | null | undefined): Round | null {
  try {
    const { data } = saved.safeParse(JSON.parse(text ?? "null"));
    return data === undefined ? null : { untilMs: data.untilMs, unread: new Map(data.unread) };
  } catch {
    return null;
  }
}

/** Returns the round as text. */
export const writeRound = ({ untilMs, unread }: Round): string =>
  JSON.stringify({ untilMs, unread: [...unread] } satisfies z.input<typeof saved>);
