import { z } from "zod";
import { type Result, refused } from "./problem.ts";
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

/** Reads a query of single values. Ignores empty values; refuses what `singleValues` refuses. */
export function readQuery<T>(
  parameters: Iterable<readonly [string, string]>,
  schema: z.ZodType<T> & { readonly shape: Readonly<Record<string, unknown>> },
): Result<T> {
  const single = singleValues(parameters, Object.keys(schema.shape));
  return single.ok ? checked(schema, single.value) : single;
}

/**
 * The value of each parameter, without empty ones. Refuses a name that is not among `known`, because a filter that
 * is ignored would list everything, and two values of one parameter. `aliases`: other names of the same parameters.
 */
export function singleValues(
  parameters: Iterable<readonly [string, string]>,
  known: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): Result<Record<string, string>> {
  const single = new Map<string, string>();
  for (const [written, value] of parameters) {
    const name = Object.hasOwn(aliases, written) ? (aliases[written] ?? written) : written;
    if (!known.includes(name)) {
      const names = [...known, ...Object.keys(aliases)].join(", ") || "none";
      const detail = `${written.slice(0, 100)}: there is no such parameter; known: ${names}`;
      return refused("invalid_request", detail);
    }
    if (value === "") continue;
    const before = single.get(name);
    if (before !== undefined && before !== value) {
      return refused("invalid_request", `${written}: it has two values; write one`);
    }
    single.set(name, value);
  }
  return { ok: true, value: Object.fromEntries(single) };
}

/** The parameters of a query whose schemas carry descriptions. */
export const described = ({
  shape,
}: z.ZodObject<Record<string, z.ZodType>>): Record<string, QueryParameter> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, { schema, description: schema.description ?? "" }]),
  );
