import { randomBytes } from "node:crypto";
import { METHODS } from "node:http";
import { type Context, Hono } from "hono";
import type { Log } from "#base/log.ts";
import { hasKey } from "#service/sessions/bearer.ts";
import { problemResponse, type Refused, type Result, refused } from "#service/wire/problem.ts";
import type { Asked, Endpoint } from "./endpoint.ts";
import type { Operations } from "./operations.ts";

/** The endpoints and their key. */
export interface RouteOptions {
  readonly basePath: string;
  readonly apiKey: string;
  readonly endpoints: readonly Endpoint[];
  readonly operations: Operations;
  /** Whether requests can be handled now. */
  readonly isReady: () => boolean;
  readonly log: Log;
}

/** The API's paths, methods, authentication and problem documents. */
export function createRoutes(options: RouteOptions): Hono {
  const { basePath, apiKey, endpoints, operations, isReady, log } = options;
  const app = new Hono().basePath(basePath);

  function respond(c: Context, result: Result<unknown>, traceId?: string): Response {
    const response = !result.ok
      ? problemResponse(result.refusal, c.req.path, traceId ?? newTraceId())
      : result.value instanceof Response
        ? result.value
        : new Response(JSON.stringify(result.value), { headers: jsonHeaders });
    log.debug("request handled", { method: c.req.method, path: c.req.path, status: response.status });
    return response;
  }

  /** Refuses requests while the service is not ready or if they lack the key; null if the request may go on. */
  function turnedAway(c: Context, open: boolean): Refused | null {
    if (!isReady()) return notReady;
    return open || hasKey(c.req.header("authorization"), apiKey) ? null : withoutKey;
  }

  for (const { method, path, open = false, handle } of endpoints) {
    app.on(method, pattern(path), (c): Response | Promise<Response> => {
      const result = turnedAway(c, open) ?? handle(operations, askedOf(c));
      return result instanceof Promise ? result.then((each) => respond(c, each)) : respond(c, result);
    });
  }

  for (const [path, methods] of Map.groupBy(endpoints, (each) => each.path)) {
    const known = methods.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).sort();
    const others = METHODS.filter((method) => !known.includes(method));
    const headers = { allow: known.join(", ") };
    app.on(others, pattern(path), (c) => {
      const detail = `This path does not allow ${c.req.method}, only ${known.join(", ")}.`;
      const wrongMethod = refused("operation_not_supported", detail, { status: 405, headers });
      const allowed = { ok: true, value: new Response(null, { status: 204, headers }) } as const;
      return respond(c, turnedAway(c, false) ?? (c.req.method === "OPTIONS" ? allowed : wrongMethod));
    });
  }
  const unknownPath = refused(
    "resource_not_found",
    `There is nothing at this path. ${basePath}/docs lists the endpoints.`,
  );
  app.notFound((c) => respond(c, turnedAway(c, false) ?? unknownPath));
  app.onError((error, c) => {
    const traceId = newTraceId();
    log.error("a request failed", { method: c.req.method, path: c.req.path, traceId, error });
    return respond(c, refused("internal_error", `The service's log has the details: ${traceId}.`), traceId);
  });
  return app;
}

const askedOf = ({ req }: Context): Asked => ({
  request: req.raw,
  parameter: (name) => req.param(name) ?? "",
  get query() {
    return new URL(req.raw.url).searchParams;
  },
});

const jsonHeaders = { "content-type": "application/json", "cache-control": "no-store" };

const newTraceId = (): string => randomBytes(16).toString("hex");

/** Among the statuses of this code, 429 tells the client that the request was not processed. */
const notReady = refused("resource_unavailable", "The service is starting or stopping.", {
  status: 429,
  headers: { "retry-after": "1" },
});

const withoutKey = refused(
  "authentication_required",
  "Send the API key as a bearer token in the Authorization header.",
  { headers: { "www-authenticate": "Bearer" } },
);

/** `/runs/{runId}` in Hono's notation. */
const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");
