/** Lenient reading of the service's answers: unknown content is kept, and does not spoil what is known. */
import { z } from "zod";
import { declareUnchanged, isUnchangedBy } from "./unchanged.ts";

/** A field that may be missing or null; one of an unknown shape counts as missing. */
export function maybe<T extends z.ZodType>(schema: T) {
  const isUnchanged = isUnchangedBy(schema);
  return declareUnchanged(schema.nullish().catch(undefined), (value) => value == null || isUnchanged(value));
}

/** Every field as `maybe` makes it. */
export function eachMaybe<F extends Readonly<Record<string, z.ZodType>>>(
  fields: F,
): { [K in keyof F]: ReturnType<typeof maybe<F[K]>> };
export function eachMaybe(fields: Readonly<Record<string, z.ZodType>>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, maybe(field)]));
}

/** Always a text; a missing one is empty. */
export const text = declareUnchanged(
  z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
  (value) => typeof value === "string",
);

/** RFC 3339, as the service writes it. */
export const timestamp = z.string().min(1);

/** A list; a missing one is empty, and so is null, which some servers write for an empty list. */
export const list = <T extends z.ZodType>(item: T) =>
  declareUnchanged(
    z
      .array(item)
      .nullish()
      .transform((items) => items ?? []),
    isListOf(item),
  );

/** A list without the items that don't match. */
export const understood = <T extends z.ZodType>(item: T) =>
  declareUnchanged(
    list(z.unknown()).transform((items) =>
      items.flatMap((each) => {
        const read = item.safeParse(each);
        return read.success ? [read.data] : [];
      }),
    ),
    isListOf(item),
  );

function isListOf(item: z.ZodType): (value: unknown) => boolean {
  const isUnchanged = isUnchangedBy(item);
  return (value) => Array.isArray(value) && value.every(isUnchanged);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function everyValue(named: Readonly<Record<string, unknown>>, test: (value: unknown) => boolean): boolean {
  for (const name in named) if (!test(named[name])) return false;
  return true;
}

const object = z.custom<Readonly<Record<string, unknown>>>(isObject, "expected an object");

/**
 * A map of names to `item`s. Unlike `z.record` it keeps an entry called `__proto__`, because
 * `Object.fromEntries` makes that a field like any other.
 */
export function mapOf<T extends z.ZodType>(item: T) {
  const isUnchanged = isUnchangedBy(item);
  return declareUnchanged(
    object.transform((named, context): Record<string, z.output<T>> => {
      const read: [string, z.output<T>][] = [];
      for (const [name, value] of Object.entries(named)) {
        const result = item.safeParse(value);
        if (result.success) read.push([name, result.data]);
        else {
          for (const { message, path } of result.error.issues) {
            context.addIssue({ code: "custom", message, path: [name, ...path] });
          }
        }
      }
      return Object.fromEntries(read);
    }),
    (value) => isObject(value) && everyValue(value, isUnchanged),
  );
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTextPair = (pair: [string, unknown]): pair is [string, string] => isText(pair[1]);

/** A map of text to text, without entries of other types. */
export const textMap = declareUnchanged(
  object.transform((pairs) => Object.fromEntries(Object.entries(pairs).filter(isTextPair))),
  (value) => isObject(value) && everyValue(value, isText),
);
