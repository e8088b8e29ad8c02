import { z } from "zod";
import { createRequest, metadata } from "#agent-runs/schema.ts";
import { named } from "#service/wire/wire-shapes.ts";

/** A JSON Schema. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The place of named schemas in an OpenAPI document. */
export const schemasAt = "#/components/schemas/";

/** The JSON Schemas (draft 2020-12) of the named shapes, with references to each other. */
export function namedJsonSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...conversion,
    io: "input",
    uri: (id) => `${schemasAt}${id}`,
  });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bare(schema)]));
}

/**
 * The JSON Schema of one shape, before parsing ("input") or after it ("output"); a reference if the shape is named.
 */
export function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const name = Object.keys(named).find((each) => named[each] === schema);
  return name === undefined
    ? bare(z.toJSONSchema(schema, { ...conversion, io }))
    : { $ref: `${schemasAt}${name}` };
}

const bare = ({ $schema, $id, ...schema }: JsonSchema): JsonSchema => schema;

const servers = createRequest.shape.config.unwrap().shape.mcp_servers.unwrap().unwrap();

/** Maps are parsed by functions, which have no schema of their own. */
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
        "At most 20 pairs, which never change. A key has 1 to 64 characters of `a-z A-Z 0-9 . _ -`; a value has at most 256 bytes of UTF-8 and no NUL.",
    },
  ],
]);

/** Describes the wire format; a leniently parsed value is described in the form in which it is sent. */
const conversion = {
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
    // The format implies the pattern, which is long.
    if (jsonSchema.format !== undefined) Reflect.deleteProperty(jsonSchema, "pattern");
    const map = maps.get(zodSchema);
    if (map !== undefined) replace(map);
  },
} as const;
