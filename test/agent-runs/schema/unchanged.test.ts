import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { isUnchangedBy } from "#agent-runs/schema/unchanged.ts";
import * as schema from "#agent-runs/schema.ts";
import { run } from "#test/support/agent-runs/local-api.ts";

/** Values that a service may send anywhere: valid, null, missing, of another type, or nested. */
const odd = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("text", "", "2026-01-01T00:00:00Z") },
  fc.constantFrom<unknown>(null, undefined, true, 0, 1.5, [], {}, ["a"], [{}], { a: "b" }, { a: 1 }),
);
const fields = (names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names, "more", "__proto__"), odd, { maxKeys: 6 });

const config = fields([...Object.keys(schema.agentConfig.shape), "mcp_servers"]);
const artifacts = fc.array(fc.record({ artifact_type: odd, created_at: odd, data: odd }), { maxLength: 2 });
const someRun = fc
  .tuple(
    fields(Object.keys(schema.runItem.shape)),
    fc.record(
      { agent_config: fc.oneof(odd, config), artifacts: fc.oneof(odd, artifacts) },
      { requiredKeys: [] },
    ),
  )
  .map(([some, nested]) => ({ ...run, ...some, ...nested }));
const message = fc.record({ role: odd, content: fc.oneof(odd, fc.array(fields(["type", "text"]))) });
const step = fc.record({ id: odd, messages: fc.oneof(odd, fc.array(message, { maxLength: 2 })), steps: odd });

/** JSON as on the wire: without undefined values. */
const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test.each<[string, z.ZodType, fc.Arbitrary<unknown>]>([
  ["a run", schema.runItem, someRun],
  ["a page of runs", schema.listResponse, fc.record({ runs: fc.array(someRun), page_info: odd })],
  ["a conversation", schema.conversation, fc.record({ conversation_id: odd, steps: fc.array(step) })],
  ["a created run", schema.createResponse, fields(["run_id", "task_id", "state", "at_capacity"])],
  ["a factory", schema.factory, fields(Object.keys(schema.factory.shape))],
  ["an environment", schema.environment, fields(Object.keys(schema.environment.shape))],
])("%s is left alone only if parsing would return the same", (_, rules, values) => {
  const isUnchanged = isUnchangedBy(rules);
  fc.assert(
    fc.property(values.map(onWire), (value) => {
      if (!isUnchanged(value)) return;
      const parsed = rules.safeParse(value);
      expect(parsed.success).toBe(true);
      // Parsing alone would lose a field called __proto__.
      expect(onWire(parsed.data)).toEqual(withoutProto(value));
    }),
    { numRuns: 500 },
  );
});

const withoutProto = (value: unknown): unknown => JSON.parse(JSON.stringify(value), dropProto);
function dropProto(this: unknown, _key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== "__proto__"));
}

test("an ordinary run is returned unchanged", () => {
  const page = { runs: [{ ...run, metadata: { a: "b" }, more: 1 }], page_info: { has_next_page: false } };
  expect(isUnchangedBy(schema.listResponse)(page)).toBe(true);
  expect(isUnchangedBy(schema.listResponse)({ ...page, runs: [{ ...run, title: null }] })).toBe(false);
});

test.each<[string, z.ZodType, unknown]>([
  ["drops what it does not know", z.object({ a: z.string() }), { a: "b", more: 1 }],
  ["changes a text", z.looseObject({ a: z.string().trim() }), { a: " b " }],
  ["has a rule about a text", z.looseObject({ a: z.string().max(1) }), { a: "bc" }],
  ["has a form for a text", z.looseObject({ a: z.email() }), { a: "b" }],
  ["has a rule about a number", z.looseObject({ a: z.number().int() }), { a: 1.5 }],
  ["takes whole numbers only", z.looseObject({ a: z.int() }), { a: 1.5 }],
  ["wants a text of one length", z.looseObject({ a: z.string().length(1) }), { a: "bc" }],
  ["wants a field whatever is in it", z.looseObject({ a: z.unknown() }), {}],
  ["has a rule about the whole", z.looseObject({}).refine(() => false), {}],
  ["fills in", z.looseObject({ a: z.string().default("b") }), {}],
  ["knows a few texts only", z.looseObject({ a: z.enum(["b"]) }), { a: "c" }],
  ["makes something else", z.looseObject({ a: z.string().transform(Number) }), { a: "1" }],
])("a schema that %s must parse", (_, rules, value) => {
  expect(isUnchangedBy(rules)(value)).toBe(false);
});
