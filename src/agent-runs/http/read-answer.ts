import type { z } from "zod";
import { ResponseSchemaError } from "../errors.ts";
import { isUnchangedBy } from "../schema/unchanged.ts";
import type { Repeat } from "./retry.ts";
import type { Answer } from "./status-error.ts";

interface Circumstances {
  readonly repeat: Repeat;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** What becomes of a 2xx answer. Throws `ResponseSchemaError` if it is not as it must be. */
export interface Reading<T> {
  /** The status says everything: the body is left alone, so that nothing about it can fail. */
  readonly bodyless?: true;
  readonly read: (answer: Answer, circumstances: Circumstances) => T;
}

/**
 * For calls whose 2xx answer says only that they were accepted. A page of HTML says no such thing: it comes from
 * whatever stands before a service that is away.
 */
export const accepted = <T>(data: T): Reading<T> => ({
  bodyless: true,
  read(answer, circumstances) {
    if (/^text\/html\b/i.test(answer.headers.get("content-type") ?? "")) {
      throw schemaError([wholeBody], answer, circumstances);
    }
    return data;
  },
});

/** A JSON body as the schema has it. */
export function asJson<T>(schema: z.ZodType<T>): Reading<T> {
  const test = isUnchangedBy(schema);
  const isUnchanged = (value: unknown): value is T => test(value);
  return {
    read(answer, circumstances) {
      const value = parseJson(answer, circumstances);
      let result: z.ZodSafeParseResult<T>;
      try {
        if (isUnchanged(value)) return value;
        result = schema.safeParse(value);
      } catch (error) {
        // Nested too deep for the stack, or a caller's own schema that throws: the request was answered all the same.
        throw schemaError([wholeBody], answer, circumstances, error);
      }
      if (result.success) return result.data;
      throw schemaError(fieldsOf(result.error.issues), answer, circumstances, result.error);
    },
  };
}

/** Whatever it is: JSON parsed, another text as it is, undefined for none. */
export const asItIs: Reading<unknown> = {
  read(answer, circumstances) {
    if (answer.body === "") return undefined;
    const isJson = /[/+]json\b/i.test(answer.headers.get("content-type") ?? "");
    return isJson ? parseJson(answer, circumstances) : answer.body;
  },
};

function parseJson(answer: Answer, circumstances: Circumstances): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    // The parser's own words quote the body, and with it perhaps a secret.
    throw schemaError([wholeBody], answer, circumstances);
  }
}

const wholeBody = "the body";
const mostFields = 5;

/** The fields that a schema finds fault with, each once. */
export const fieldsOf = (issues: readonly z.core.$ZodIssue[]): string[] =>
  [...new Set(issues.map(({ path }) => path.join(".") || wholeBody))].slice(0, mostFields);

/** Of a call that may be done only once it then is unknown what it made, and it must be looked up. */
function schemaError(
  fields: readonly string[],
  answer: Answer,
  { repeat, redact }: Circumstances,
  cause?: unknown,
): ResponseSchemaError {
  const named = fields.map(redact);
  return new ResponseSchemaError(
    {
      certainty: repeat === "once" ? "unknown" : "refused",
      retryable: true,
      reason: `The Agent Runs API answered in a form that can't be understood: ${named.join(", ")}.`,
      status: answer.status,
      fields: named,
    },
    { cause },
  );
}
