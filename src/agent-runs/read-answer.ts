import type { z } from "zod";
import { ResponseSchemaError } from "./errors.ts";
import type { Repeat } from "./retry.ts";
import type { Answer } from "./status-error.ts";

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // No schema takes it, so that it fails like any other body that breaks one.
    return undefined;
  }
}

/**
 * A 2xx answer's body as the schema has it. Throws `ResponseSchemaError`; of a call that may be done only
 * once it then is unknown what it made, and it must be looked up.
 */
export function readAnswer<T>(answer: Answer, schema: z.ZodType<T>, repeat: Repeat): T {
  const result = schema.safeParse(parseJson(answer.body));
  if (result.success) return result.data;
  throw new ResponseSchemaError(
    {
      certainty: repeat === "once" ? "unknown" : "refused",
      retryable: true,
      detail: "The Agent Runs API answered in a form that can't be understood.",
      status: answer.status,
    },
    { cause: result.error },
  );
}
