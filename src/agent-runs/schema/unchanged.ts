/**
 * Most answers are already what their schema makes of them. Telling so takes a tenth of the time that making
 * them anew does, and an answer that is left alone keeps all that is in it.
 */
import { z } from "zod";

type Test = (value: unknown) => boolean;

/** By the very schema: one that is derived of it may do more. */
const tests = new WeakMap<z.ZodType, Test>();

/** Says which values a schema that transforms leaves as they are. Answers the schema. */
export function declareUnchanged<T extends z.ZodType>(schema: T, test: Test): T {
  tests.set(schema, test);
  return schema;
}

/** True only if parsing the value would give an equal one; false also where that can't be told cheaply. */
export function isUnchangedBy(schema: z.ZodType): Test {
  const known = tests.get(schema);
  if (known !== undefined) return known;
  const test = schema instanceof z.ZodObject ? objectTest(schema) : testOf(schema);
  tests.set(schema, test);
  return test;
}

const never: Test = () => false;
const innerTest = (inner: unknown): Test => (inner instanceof z.ZodType ? isUnchangedBy(inner) : never);

function testOf(schema: z.ZodType): Test {
  if (schema instanceof z.ZodString) return textTest(schema);
  // Any other schema with rules of its own is asked itself, by parsing.
  if (schema.def.checks !== undefined && schema.def.checks.length > 0) return never;
  // `z.int()` and its like are numbers whose rule is no check.
  if (schema instanceof z.ZodNumber) return schema instanceof z.ZodNumberFormat ? never : Number.isFinite;
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === "boolean";
  if (schema instanceof z.ZodUnknown) return () => true;
  if (schema instanceof z.ZodArray) {
    const isItem = innerTest(schema.element);
    return (value) => Array.isArray(value) && value.every(isItem);
  }
  if (schema instanceof z.ZodOptional) {
    const isInner = innerTest(schema.unwrap());
    return (value) => value === undefined || isInner(value);
  }
  if (schema instanceof z.ZodNullable) {
    const isInner = innerTest(schema.unwrap());
    return (value) => value === null || isInner(value);
  }
  if (schema instanceof z.ZodCatch) return innerTest(schema.unwrap());
  return never;
}

function textTest(schema: z.ZodString): Test {
  const checks = schema.def.checks ?? [];
  if (checks.length === 0 && schema.format === null) return (value) => typeof value === "string";
  const [rule, ...others] = checks.map((check) => check._zod.def.check);
  const isFilled =
    rule === "min_length" && others.length === 0 && schema.minLength === 1 && schema.format === null;
  return isFilled ? (value) => typeof value === "string" && value.length > 0 : never;
}

interface Field {
  readonly test: Test;
  readonly required: boolean;
  /** Whatever the text: of most fields that is all there is to ask. */
  readonly takesText: boolean;
}

function objectTest(schema: z.ZodObject): Test {
  const keepsUnknown = schema.def.catchall instanceof z.ZodUnknown;
  if (!keepsUnknown || (schema.def.checks ?? []).length > 0) return never;
  let fields: ReadonlyMap<string, Field> | undefined;
  let mostMissing = 0;
  // One object after the other has its fields in the same order: most are found where the last one's was.
  const places: { readonly name: string; readonly field: Field | undefined }[] = [];
  return (value) => {
    // Read when it is first asked, since a schema may hold itself.
    if (fields === undefined) {
      fields = new Map(Object.entries(schema.shape).map(([name, field]) => [name, fieldOf(field)]));
      mostMissing = [...fields.values()].filter(({ required }) => required).length;
    }
    if (!isObject(value)) return false;
    let missing = mostMissing;
    let at = 0;
    for (const name in value) {
      let place = places[at];
      if (place?.name !== name) {
        place = { name, field: fields.get(name) };
        places[at] = place;
      }
      at += 1;
      const { field } = place;
      if (field === undefined) continue;
      const inner = value[name];
      const isText = field.takesText && typeof inner === "string";
      if (!isText && !field.test(inner)) return false;
      if (field.required) missing -= 1;
    }
    return missing === 0;
  };
}

function fieldOf(schema: unknown): Field {
  const test = innerTest(schema);
  // Anything may stand in a field of anything, but it must be there.
  return { test, required: schema instanceof z.ZodUnknown || !test(undefined), takesText: test("") };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
