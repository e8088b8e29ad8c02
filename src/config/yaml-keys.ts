import { z } from "zod";

/** A mapping with these keys and no others; an unknown key is reported with the known ones. */
export const keys = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `known here: ${Object.keys(shape).join(", ")}`
        : "must be a mapping",
  });

/** A text that is not empty. */
export const text = z.string("must be a text").min(1, "must not be empty");
/** A list of such texts. */
export const texts = z.array(text, "must be a list");

/** Reads a key without a value, such as `labels:` with nothing after it, as an empty mapping. */
export const emptied = <S extends z.ZodType>(schema: S) => z.preprocess((value) => value ?? {}, schema);

/** A mapping of names, each of which fits `name`, to values; a name without a value has an empty mapping. */
export const mapOf = <S extends z.ZodType>(name: z.core.$ZodRecordKey, value: S) =>
  emptied(z.record(name, emptied(value), "must be a mapping"));
