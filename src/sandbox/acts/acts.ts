/**
 * The acts of people in Slack or on GitHub, which the page requests. They don't reach the bot directly: the
 * stand-ins send it signed webhooks.
 */
import { z } from "zod";

/** `status` is the bot's HTTP status: 0 for no answer, null if nothing was sent or the act doesn't wait. */
export type ActAnswer =
  | { readonly ok: true; readonly status: number | null; readonly number?: number }
  | { readonly ok: false; readonly error: string };

/** Takes an unchecked body. Expected failures are results; it rejects only for a bug. */
export type Act = (body: unknown) => Promise<ActAnswer>;

/** The result of an act that failed. */
export const failed = (error: string): ActAnswer => ({ ok: false, error });

/** A text that people write. */
export const words = z.string().trim().min(1, "Write something first.").max(40_000, "That is too long.");
/** A name or an id. */
export const name = z.string().min(1).max(100);

/** Creates an act. `shape` checks the body; `missing` returns a sentence if it names something unknown. */
export const act =
  <T extends z.ZodType>(
    shape: T,
    missing: (asked: z.infer<T>) => string | null,
    carryOut: (asked: z.infer<T>) => Promise<ActAnswer>,
  ): Act =>
  async (body) => {
    const parsed = shape.safeParse(body);
    if (!parsed.success) return failed(parsed.error.issues[0]?.message ?? "The request is not valid.");
    const problem = missing(parsed.data);
    return problem === null ? carryOut(parsed.data) : failed(problem);
  };
