import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import { isAuthorized } from "./bearer.ts";
import type { Endpoint, Operations, Outcome } from "./endpoint.ts";
import type { ServiceLog } from "./log.ts";
import { problemResponse, type Refusal } from "./problem.ts";

export interface RouteOptions {
  readonly basePath: string;
  readonly apiKey: string;
  readonly endpoints: readonly Endpoint[];
  readonly operations: Operations;
  /** Why nothing can be answered now; null when everything can. */
  readonly unavailable: () => string | null;
  readonly log: ServiceLog;
}

interface Env {
  Variables: { traceId: string };
}

/** The API's paths, methods, authentication and problem documents. */
export function createRoutes(options: RouteOptions): Hono<Env> {
  const { basePath, apiKey, endpoints, operations, unavailable, log } = options;
  const app = new Hono<Env>().basePath(basePath);

  const refuse = (c: Context<Env>, refusal: Refusal): Response =>
    problemResponse(refusal, c.req.path, c.get("traceId"));
  const answer = (c: Context<Env>, outcome: Outcome): Response => {
    if (outcome instanceof Response) return outcome;
    return outcome.ok ? Response.json(outcome.value, { headers: noStore }) : refuse(c, outcome.refusal);
  };
  const serve = ({ method, path, handle }: Endpoint): void => {
    app.on(method, pattern(path), async (c) => {
      const asked = {
        request: c.req.raw,
        parameter: (name: string) => c.req.param(name) ?? "",
        query: new URL(c.req.url).searchParams,
      };
      return answer(c, await handle(operations, asked));
    });
  };

  app.use(async (c, next) => {
    c.set("traceId", randomBytes(16).toString("hex"));
    const why = unavailable();
    if (why !== null) return refuse(c, { code: "resource_unavailable", detail: why, status: 500 });
    await next();
    log.debug("answered", { method: c.req.method, path: c.req.path, status: c.res.status });
  });

  for (const endpoint of endpoints) if (endpoint.open) serve(endpoint);

  app.use(async (c, next) => {
    if (isAuthorized(c.req.header("authorization"), apiKey)) return next();
    return refuse(c, {
      code: "authentication_required",
      detail: "Send the API key as a bearer token in the Authorization header.",
      headers: { "www-authenticate": "Bearer" },
    });
  });

  for (const endpoint of endpoints) if (!endpoint.open) serve(endpoint);

  for (const [path, methods] of Map.groupBy(endpoints, (each) => each.path)) {
    const allow = methods
      .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))
      .sort()
      .join(", ");
    app.options(pattern(path), () => new Response(null, { status: 204, headers: { allow, ...noStore } }));
    app.all(pattern(path), (c) =>
      refuse(c, {
        code: "operation_not_supported",
        detail: `${c.req.method} is not a method of this path; it has ${allow}.`,
        status: 405,
        headers: { allow },
      }),
    );
  }
  const nothing = `There is nothing at this path; ${basePath}/docs tells what there is.`;
  app.notFound((c) => refuse(c, { code: "resource_not_found", detail: nothing }));
  app.onError((error, c) => {
    const traceId = c.get("traceId");
    log.error("a request failed", { method: c.req.method, path: c.req.path, traceId, error });
    return refuse(c, { code: "internal_error", detail: `The service's log tells more under ${traceId}.` });
  });
  return app;
}

const noStore = { "cache-control": "no-store" };

/** `/runs/{runId}` as Hono writes it. */
const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");
