import { z } from "zod";

/** An object with these keys and no others. */
export const keys = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `known here: ${Object.keys(shape).join(", ")}`
        : "must be a mapping",
  });

export const text = z.string("must be a text").min(1, "must not be empty");
export const texts = z.array(text, "must be a list");

/** A key without a value, as in `labels:` with nothing after it, is the same as one left out. */
export const emptied = <S extends z.ZodType>(schema: S) => z.preprocess((value) => value ?? {}, schema);

/** By name, each of which `name` must take. */
export const mapOf = <S extends z.ZodType>(name: z.core.$ZodRecordKey, value: S) =>
  emptied(z.record(name, emptied(value), "must be a mapping"));
