import { z } from "zod";
import type { Thread } from "#core/thread.ts";

/** The fields that the store relies on, and some more to recognize a thread. Other fields are kept unchanged. */
const outerShape = z.looseObject({
  version: z.literal(1),
  id: z.string().min(1),
  scope: z.string(),
  places: z.array(z.string()),
  runs: z.array(
    z.looseObject({
      dispatch: z.string(),
      runId: z.string().nullable(),
      open: z.boolean(),
      cards: z.looseObject({}),
    }),
  ),
  decided: z.number(),
  effects: z.array(z.looseObject({ id: z.string(), kind: z.string(), to: z.string() })),
  waiting: z.array(z.looseObject({ kind: z.string(), id: z.string() })),
  seen: z.array(z.string()),
  said: z.array(z.string()),
  muted: z.boolean(),
  changedAt: z.iso.datetime({ offset: true }),
});
const newerShape = z.looseObject({ version: z.number().min(2) });

const isThread = (value: unknown): value is Thread => outerShape.safeParse(value).success;

/** Result of `readThread`. `reason` completes "its document …" and quotes nothing from the document. */
export type ReadThread =
  | { readonly kind: "thread"; readonly thread: Thread }
  | { readonly kind: "damaged" | "newer"; readonly reason: string };

/** Parses and checks a document. */
export function readThread(text: string): ReadThread {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    return { kind: "damaged", reason: "is not whole JSON" };
  }
  if (isThread(value)) return { kind: "thread", thread: value };
  if (newerShape.safeParse(value).success) {
    return { kind: "newer", reason: "was written by a newer version" };
  }
  const at = outerShape.safeParse(value).error?.issues[0]?.path.join(".");
  return { kind: "damaged", reason: at ? `is not a thread's, at ${at}` : "is not a thread's" };
}
