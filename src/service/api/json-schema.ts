import { z } from "zod";
import { createRequest, metadata } from "#agent-runs/schema.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Where an OpenAPI document has them. */
export const schemasAt = "#/components/schemas/";

/** JSON Schemas (draft 2020-12) of the shapes, by name; where one holds another, it refers to it. */
export function jsonSchemasOf(named: Readonly<Record<string, z.ZodType>>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { ...how, io: "input", uri: (id) => `${schemasAt}${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bare(schema)]));
}

/**
 * JSON Schema of one shape, before it is read ("input") or after ("output"); a reference if it is one of
 * `named`.
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  named: Readonly<Record<string, z.ZodType>>,
  io: "input" | "output",
): JsonSchema {
  const name = Object.keys(named).find((each) => named[each] === schema);
  return name === undefined ? bare(z.toJSONSchema(schema, { ...how, io })) : { $ref: `${schemasAt}${name}` };
}

const bare = ({ $schema, $id, ...schema }: JsonSchema): JsonSchema => schema;

const servers = createRequest.shape.config.unwrap().shape.mcp_servers.unwrap().unwrap();

/** Maps are read by a function, which says nothing of itself. */
const maps = new Map<z.core.$ZodType, JsonSchema>([
  [servers, { type: "object", additionalProperties: { $ref: `${schemasAt}MCPServerConfig` } }],
  [
    metadata,
    {
      type: "object",
      maxProperties: 20,
      propertyNames: { pattern: "^[a-zA-Z0-9._-]{1,64}$" },
      additionalProperties: { type: "string", maxLength: 256 },
      description:
        "At most 20 pairs, which never change. A key has 1 to 64 characters of `a-z A-Z 0-9 . _ -`, a value at most 256 bytes of UTF-8 and no NUL.",
    },
  ],
]);

/** The form on the wire, and of what is read leniently the form in which it is written. */
const how = {
  target: "draft-2020-12",
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
    const replace = (by: JsonSchema): void => {
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      Object.assign(jsonSchema, by);
    };
    const { def } = zodSchema._zod;
    if (def.type === "catch") {
      const [there, none] = jsonSchema.anyOf ?? [];
      if (typeof there === "object" && typeof none === "object" && none.type === "null") replace(there);
    }
    if (def.type === "pipe" && def.in._zod.def.type === "custom") replace({ type: "object" });
    // The format says the same as its pattern, which is a long one.
    if (jsonSchema.format !== undefined) Reflect.deleteProperty(jsonSchema, "pattern");
    const map = maps.get(zodSchema);
    if (map !== undefined) replace(map);
  },
} as const;
