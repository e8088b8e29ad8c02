/** How the service's answers are read: what is unknown to us is kept, and spoils nothing that is known. */
import { z } from "zod";

/** A field that may be missing or null; one of a shape unknown to us counts as missing. */
export const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);

/** Always a text; a missing one is empty. */
export const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

/** RFC 3339, as the service writes it. */
export const timestamp = z.string().min(1);

/** A list; null, as some servers write an empty one, and a missing one are empty. */
export const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

/** A list of which only the items that we understand are kept. */
export const understood = <T extends z.ZodType>(item: T) =>
  list(z.unknown()).transform((items) =>
    items.flatMap((each) => {
      const read = item.safeParse(each);
      return read.success ? [read.data] : [];
    }),
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const object = z.custom<Readonly<Record<string, unknown>>>(isObject, "expected an object");

/**
 * A map by name, each of whose values is an `item`. Unlike `z.record` it does not lose an entry called
 * `__proto__`, which is a name like any other: `Object.fromEntries` makes it a field and no prototype.
 */
export const mapOf = <T extends z.ZodType>(item: T) =>
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
  });

const isTextPair = (pair: [string, unknown]): pair is [string, string] => typeof pair[1] === "string";

/** A map from text to text; other values in it are left out. */
export const textMap = object.transform((pairs) =>
  Object.fromEntries(Object.entries(pairs).filter(isTextPair)),
);
