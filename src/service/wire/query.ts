import { z } from "zod";
import type { Result } from "./problem.ts";
import { checked } from "./request-body.ts";

/** A query parameter as the API's description shows it. */
export interface QueryParameter {
  readonly schema: z.ZodType;
  readonly description: string;
  /** `deepObject` is written `name[key]=value`; absent: `name=value`, repeated for each item of a list. */
  readonly style?: "deepObject";
}

/** The schema of a whole number with a default. */
export function wholeNumber(least: number, most: number, usual: number) {
  const error = `it must be a whole number from ${least} to ${most}`;
  return z.coerce.number(error).int(error).min(least, error).max(most, error).default(usual);
}

/** Reads a query of single values. Ignores unknown parameters, empty values and repetitions. */
export function readQuery<T>(parameters: URLSearchParams, schema: z.ZodType<T>): Result<T> {
  return checked(schema, singleValues(parameters));
}

/** The first value that isn't empty of each parameter. `aliases`: other names of the same parameters. */
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

/** The parameters of a query whose schemas carry descriptions. */
export const described = ({
  shape,
}: z.ZodObject<Record<string, z.ZodType>>): Record<string, QueryParameter> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, { schema, description: schema.description ?? "" }]),
  );
