import { type ErrorCode, errorCodes } from "#agent-runs/schema.ts";
import { problemAnswer } from "#service/wire/wire-shapes.ts";
import { type Endpoint, groups } from "./endpoint.ts";
import { type JsonSchema, jsonSchemaOf, namedJsonSchemas } from "./json-schema.ts";

interface Response {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly style?: "deepObject";
  readonly explode?: true;
  readonly schema: JsonSchema;
}

/** An OpenAPI 3.1 document, as far as this service needs it. */
export type OpenApiDocument = ReturnType<typeof openApiOf>;
/** One method of a path in the document. */
export type OpenApiOperation = ReturnType<typeof operationOf>;

/** The OpenAPI document of the endpoints below `basePath`. */
export function openApiOf(endpoints: readonly Endpoint[], basePath: string) {
  const paths = Object.fromEntries(
    [...Map.groupBy(endpoints, ({ path }) => path)].map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map((each) => [each.method.toLowerCase(), operationOf(each)])),
    ]),
  );
  return {
    openapi: "3.1.1",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: "Agent Runs",
      version: "1",
      description:
        "Creates, steers and reports runs of agents on this machine. Refused requests get a problem document (RFC 9457), whose `type` ends in the error code. Fields may be added at any time.",
    },
    servers: [{ url: basePath }],
    security: [{ apiKey: [] }],
    tags: groups.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer" } },
      schemas: namedJsonSchemas(),
    },
  };
}

function operationOf(endpoint: Endpoint) {
  const { id, group, summary, description, open, path, query = {}, body } = endpoint;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = ""]): Parameter => ({ name, in: "path", required: true, schema: { type: "string" } }),
  );
  const inQuery = Object.entries(query).map(
    ([name, { schema, description: meaning, style }]): Parameter => ({
      name,
      in: "query",
      required: false,
      description: meaning,
      ...(style === undefined ? {} : { style, explode: true }),
      schema: withoutDescription(jsonSchemaOf(schema, "output")),
    }),
  );
  return {
    operationId: id,
    tags: [group],
    summary,
    description,
    /** Empty: needs no key. */
    security: open ? [] : undefined,
    parameters: [...inPath, ...inQuery],
    requestBody: body && {
      required: true,
      content: { "application/json": { schema: jsonSchemaOf(body, "input") } },
    },
    responses: { ...answerOf(endpoint), ...refusalsOf(endpoint) },
  };
}

/** The parameter has the description. */
const withoutDescription = ({ description: _, ...schema }: JsonSchema): JsonSchema => schema;

function answerOf({ answer }: Endpoint): Record<string, Response> {
  if ("redirects" in answer) return { "302": { description: answer.redirects, content: {} } };
  if ("media" in answer) {
    const type = answer.media === "application/json" ? "object" : "string";
    return { "200": { description: answer.description, content: { [answer.media]: { schema: { type } } } } };
  }
  return {
    "200": {
      description: answer.description ?? "Done",
      content: { "application/json": { schema: jsonSchemaOf(answer, "input") } },
    },
  };
}

/** The problem documents by status, each with its possible codes. */
function refusalsOf({ open, body, refusals }: Endpoint): Record<string, Response> {
  const byStatus = new Map<number, string[]>();
  const add = (code: ErrorCode, status: number = errorCodes[code].status): void => {
    byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\``]);
  };
  for (const code of refusals) add(code);
  if (!open) add("authentication_required");
  if (body !== undefined) {
    add("invalid_request", 413);
    add("invalid_request", 415);
  }
  add("resource_unavailable");
  add("internal_error", 500);
  const schema = jsonSchemaOf(problemAnswer, "input");
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: [...new Set(codes)].join(" or "),
        content: { "application/problem+json": { schema } },
      },
    ]),
  );
}
