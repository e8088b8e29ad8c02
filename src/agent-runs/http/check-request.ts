import type { z } from "zod";
import { InvalidRequestError } from "../errors.ts";
import { isUnchangedBy } from "../schema/unchanged.ts";
import { fieldsOf } from "./read-answer.ts";

/** Throws `InvalidRequestError`, which names the fields, if the schema finds fault with what is to be sent. */
export function checkRequest(schema: z.ZodType, sent: unknown, sentence: string): void {
  if (isUnchangedBy(schema)(sent)) return;
  const result = schema.safeParse(sent);
  if (result.success) return;
  const fields = fieldsOf(result.error.issues);
  throw new InvalidRequestError(`${sentence}: ${fields.join(", ")}.`, fields, { cause: result.error });
}
