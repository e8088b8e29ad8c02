import type { z } from "zod";
import { InvalidRequestError, ResponseSchemaError } from "../errors.ts";
import { isUnchangedBy } from "../schema/unchanged.ts";
import type { Answer } from "./reply.ts";

interface Circumstances {
  /** The request asked for a change, which a 2xx answer does not undo. */
  readonly writes: boolean;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
}

/** Reads a 2xx answer. Throws `ResponseSchemaError` if it is not of the expected form. */
export interface Reading<T> {
  /** The body is left unread, so that reading it can't fail. */
  readonly bodyless?: true;
  readonly read: (answer: Answer, circumstances: Circumstances) => T;
}

/**
 * For calls whose 2xx answer only says that they were accepted. HTML is refused: it comes from a proxy in
 * front of a service that is down.
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

/** A JSON body, checked by the schema. */
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
        // The answer is nested too deeply for the stack, or a caller's schema throws. The request was still answered.
        throw schemaError([wholeBody], answer, circumstances, error);
      }
      if (result.success) return result.data;
      throw schemaError(fieldsOf(result.error.issues), answer, circumstances, result.error);
    },
  };
}

/** Returns the body unchanged. */
export const asText: Reading<string> = { read: ({ body }) => body };

/** Returns parsed JSON, the text if it is not JSON, or undefined if it is empty. */
export const asItIs: Reading<unknown> = {
  read(answer, circumstances) {
    if (answer.body === "") return undefined;
    const isJson = /[/+]json\b/i.test(answer.headers.get("content-type") ?? "");
    return isJson ? parseJson(answer, circumstances) : answer.body;
  },
};

/** Throws `InvalidRequestError`, which names the fields, if the schema rejects a request. */
export function checkRequest(schema: z.ZodType, request: unknown, sentence: string): void {
  const result = schema.safeParse(request);
  if (result.success) return;
  const fields = fieldsOf(result.error.issues);
  throw new InvalidRequestError(`${sentence}: ${fields.join(", ")}.`, fields, { cause: result.error });
}

function parseJson(answer: Answer, circumstances: Circumstances): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    // The parser's message quotes the body, which may hold a secret.
    throw schemaError([wholeBody], answer, circumstances);
  }
}

const wholeBody = "the body";
const mostFields = 5;

/** The fields that a schema rejects, each once. */
const fieldsOf = (issues: readonly z.core.$ZodIssue[]): string[] =>
  [...new Set(issues.map(({ path }) => path.join(".") || wholeBody))].slice(0, mostFields);

/** The outcome of a write is then unknown and must be looked up. */
function schemaError(
  fields: readonly string[],
  answer: Answer,
  { writes, redact }: Circumstances,
  cause?: unknown,
): ResponseSchemaError {
  const named = fields.map(redact);
  return new ResponseSchemaError(
    {
      certainty: writes ? "unknown" : "refused",
      retryable: true,
      reason: `The Agent Runs API's answer does not have the expected form: ${named.join(", ")}.`,
      status: answer.status,
    },
    named,
    { cause },
  );
}
