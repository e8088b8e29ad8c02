import { z } from "zod";
import { type Result, refused } from "./problem.ts";
import { faults } from "./request-body.ts";

export interface QueryParameter {
  readonly schema: z.ZodType;
  readonly description: string;
  /** `deepObject` is written `name[key]=value`; absent: `name=value`, repeated for each item of a list. */
  readonly style?: "deepObject";
}

/** A whole number; `usual` if it is left out. */
export function wholeNumber(least: number, most: number, usual: number) {
  const error = `it must be a whole number from ${least} to ${most}`;
  return z.coerce.number(error).int(error).min(least, error).max(most, error).default(usual);
}

/** Reads a query of single values. Unknown parameters are ignored, empty ones are absent, the first of several counts. */
export function readQuery<T>(parameters: URLSearchParams, schema: z.ZodType<T>): Result<T> {
  const parsed = schema.safeParse(singleValues(parameters));
  return parsed.success
    ? { ok: true, value: parsed.data }
    : refused("invalid_request", faults(parsed.error.issues));
}

/** `aliases`: other names of the same parameters. */
export function singleValues(
  parameters: URLSearchParams,
  aliases: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const single = new Map<string, string>();
  for (const [written, value] of parameters) {
    const name = Object.hasOwn(aliases, written) ? (aliases[written] ?? written) : written;
    if (value !== "" && !single.has(name)) single.set(name, value);
  }
  return Object.fromEntries(single);
}

/** The parameters for the description, each of which describes itself. */
export const described = ({
  shape,
}: z.ZodObject<Record<string, z.ZodType>>): Record<string, QueryParameter> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, { schema, description: schema.description ?? "" }]),
  );
