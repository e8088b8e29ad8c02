import { randomBytes } from "node:crypto";
import { METHODS } from "node:http";
import { type Context, Hono } from "hono";
import type { Log } from "#base/log.ts";
import { createKeyCheck } from "#service/sessions/bearer.ts";
import { problemResponse, type Refusal } from "#service/wire/problem.ts";
import { type Asked, type Endpoint, jsonAnswer, type Operations, type Outcome } from "./endpoint.ts";

export interface RouteOptions {
  readonly basePath: string;
  readonly apiKey: string;
  readonly endpoints: readonly Endpoint[];
  readonly operations: Operations;
  /** Why nothing can be answered now; null when everything can. */
  readonly unavailable: () => string | null;
  readonly log: Log;
}

/** The API's paths, methods, authentication and problem documents. */
export function createRoutes(options: RouteOptions): Hono {
  const { basePath, apiKey, endpoints, operations, unavailable, log } = options;
  const app = new Hono().basePath(basePath);
  const isAuthorized = createKeyCheck(apiKey);

  function answer(c: Context, outcome: Outcome, traceId?: string): Response {
    const response =
      outcome instanceof Response
        ? outcome
        : outcome.ok
          ? new Response(JSON.stringify(outcome.value), jsonAnswer)
          : problemResponse(outcome.refusal, c.req.path, traceId ?? newTraceId());
    log.debug("answered", { method: c.req.method, path: c.req.path, status: response.status });
    return response;
  }

  /** Why the request is not looked at; null if it is. */
  function turnedAway(c: Context, open: boolean): Outcome | null {
    const why = unavailable();
    // Of the two statuses that this code may have, the one that says that nothing was taken in.
    const notTaken = { status: 429, headers: { "retry-after": "1" } };
    if (why !== null) return refusal({ code: "resource_unavailable", detail: why, ...notTaken });
    return open || isAuthorized(c.req.header("authorization")) ? null : refusal(withoutKey);
  }

  // One handler a route and no middleware: what is done at once is answered at once.
  for (const { method, path, open = false, handle } of endpoints) {
    app.on(method, pattern(path), (c): Response | Promise<Response> => {
      const outcome = turnedAway(c, open) ?? handle(operations, new AskedOf(c));
      return outcome instanceof Promise ? outcome.then((each) => answer(c, each)) : answer(c, outcome);
    });
  }

  for (const [path, methods] of Map.groupBy(endpoints, (each) => each.path)) {
    const known = methods.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).sort();
    const others = METHODS.filter((method) => !known.includes(method));
    app.on(others, pattern(path), (c) => {
      const detail = `${c.req.method} is not a method of this path; it has ${known.join(", ")}.`;
      const headers = { allow: known.join(", ") };
      const wrongMethod = refusal({ code: "operation_not_supported", detail, status: 405, headers });
      const told = c.req.method === "OPTIONS" ? new Response(null, { status: 204, headers }) : wrongMethod;
      return answer(c, turnedAway(c, false) ?? told);
    });
  }
  const detail = `There is nothing at this path; ${basePath}/docs tells what there is.`;
  const nothingThere = refusal({ code: "resource_not_found", detail });
  app.notFound((c) => answer(c, turnedAway(c, false) ?? nothingThere));
  app.onError((error, c) => {
    const traceId = newTraceId();
    log.error("a request failed", { method: c.req.method, path: c.req.path, traceId, error });
    const detail = `The service's log tells more under ${traceId}.`;
    return answer(c, refusal({ code: "internal_error", detail }), traceId);
  });
  return app;
}

/** A class, since an object that is written with a getter costs a hidden class of its own each time. */
class AskedOf implements Asked {
  readonly request: Request;
  readonly parameter: (name: string) => string;
  constructor({ req }: Context) {
    this.request = req.raw;
    this.parameter = (name) => req.param(name) ?? "";
  }
  get query(): URLSearchParams {
    return new URL(this.request.url).searchParams;
  }
}

const newTraceId = (): string => randomBytes(16).toString("hex");
const refusal = (why: Refusal): Outcome => ({ ok: false, refusal: why });

const withoutKey: Refusal = {
  code: "authentication_required",
  detail: "Send the API key as a bearer token in the Authorization header.",
  headers: { "www-authenticate": "Bearer" },
};

/** `/runs/{runId}` as Hono writes it. */
const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");
