/** Reads environment variables. */
import { z } from "zod";
import type { Given } from "#ports.ts";

/** A whole number between two bounds; `of`, such as ` of runs`, names what it counts. */
export const whole = (least: number, most: number, of: string) => {
  const message = `must be a whole number${of}, ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error: message, abort: true })
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
};

/** Refuses credentials, a query and a fragment in the address, and drops slashes at its end. */
export const plain = (address: z.ZodURL | z.ZodType<string, string>) =>
  address
    .refine((url) => {
      const { username, password } = new URL(url);
      return !/[?#]/.test(url) && username === "" && password === "";
    }, "must be a plain address, without credentials, ? and #")
    .transform((url) => url.replace(/\/+$/, ""));

/** An API's address. Credentials are sent there, so it must be encrypted unless it is on this machine. */
export const apiAddress = plain(
  z
    .url({ protocol: /^https?$/, error: "must be a URL that begins with https://", abort: true })
    .refine((url) => url.startsWith("https:") || isLoopback(new URL(url).hostname), {
      error: "must begin with https://, since the credentials go there; http:// is for this machine only",
      abort: true,
    }),
);

/** True for a loopback address. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Reads the variables that `shape` describes, each by itself. Spaces around a value are dropped, and an empty one
 * counts as unset. `isSet` is true if a value was given, even an invalid one; an invalid one reads as its
 * default. The messages of `shape` continue the variable's name and never repeat a value.
 */
export function readVariables<S extends z.ZodRawShape>(shape: S, environment: Given) {
  const schema = z.object(shape);
  const given = new Map(
    Object.keys(shape).flatMap((name) => {
      const value = environment[name]?.trim();
      return value ? [[name, value] as const] : [];
    }),
  );
  const isSet = (name: keyof S & string): boolean => given.has(name);
  const first = schema.safeParse(Object.fromEntries(given));
  if (first.success) return { values: first.data, isSet, problems: [] };
  const faulty = new Map(first.error.issues.map((issue) => [String(issue.path[0]), issue.message]));
  const sound = [...given].filter(([name]) => !faulty.has(name));
  return {
    values: schema.parse(Object.fromEntries(sound)),
    isSet,
    problems: [...faulty].map(([name, message]) => `${name} ${message}.`),
  };
}
