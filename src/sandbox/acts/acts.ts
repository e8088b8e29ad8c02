/**
 * What the page may ask for: that a person does something in Slack or on GitHub. There is no way into the bot
 * here; it hears of these acts from the stand-ins, by signed webhooks, or not at all.
 */
import { z } from "zod";

/** `status`: what the bot answered; 0: no answer; null: it was not told, or its answer is not waited for. */
export type ActAnswer =
  | { readonly ok: true; readonly status: number | null; readonly number?: number }
  | { readonly ok: false; readonly error: string };

/** Takes an unchecked body. Expected failures are answers; it rejects only for a defect. */
export type Act = (body: unknown) => Promise<ActAnswer>;

export const failed = (error: string): ActAnswer => ({ ok: false, error });

export const words = z.string().trim().min(1, "Write something first.").max(40_000, "That is too long.");
export const name = z.string().min(1).max(100);

/** An act whose body must be of that shape. */
export const act =
  <T extends z.ZodType>(shape: T, carryOut: (asked: z.infer<T>) => Promise<ActAnswer>): Act =>
  async (body) => {
    const parsed = shape.safeParse(body);
    if (parsed.success) return carryOut(parsed.data);
    return failed(parsed.error.issues[0]?.message ?? "That can't be understood.");
  };
