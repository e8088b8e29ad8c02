import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import { isAuthorized, sameSecret } from "./bearer.ts";
import type { ServiceLog } from "./log.ts";
import { problemResponse, type Refusal, type Result } from "./problem.ts";
import { sessionPageHeaders } from "./session-page.ts";

/** What the routes ask of the service; each answer is the body of a 200. */
export interface Operations {
  create(request: Request): Promise<Result<unknown>>;
  list(parameters: URLSearchParams): Promise<Result<unknown>>;
  fetch(runId: string): Result<unknown>;
  conversation(runId: string): Promise<Result<unknown>>;
  followUp(runId: string, request: Request): Promise<Result<unknown>>;
  cancel(runId: string): Promise<Result<unknown>>;
  /** The run's page; null if there is no such run, or `opens` says no to its session key. */
  sessionPage(runId: string, opens: (sessionKey: string) => boolean): Promise<string | null>;
}

export interface RouteOptions {
  readonly basePath: string;
  readonly apiKey: string;
  readonly operations: Operations;
  /** Why nothing can be answered now; null when everything can. */
  readonly unavailable: () => string | null;
  readonly log: ServiceLog;
}

interface Env {
  Variables: { traceId: string };
}

/** The API's paths, methods, authentication and problem documents. */
export function createRoutes({ basePath, apiKey, operations, unavailable, log }: RouteOptions): Hono<Env> {
  const app = new Hono<Env>().basePath(basePath);

  const refuse = (c: Context<Env>, refusal: Refusal): Response =>
    problemResponse(refusal, c.req.path, c.get("traceId"));
  const answer = (c: Context<Env>, result: Result<unknown>): Response =>
    result.ok ? Response.json(result.value, { headers: noStore }) : refuse(c, result.refusal);

  app.use(async (c, next) => {
    c.set("traceId", randomBytes(16).toString("hex"));
    const why = unavailable();
    if (why !== null) return refuse(c, { code: "resource_unavailable", detail: why, status: 500 });
    await next();
    log.debug("answered", { method: c.req.method, path: c.req.path, status: c.res.status });
  });

  // Before the key is asked for: people open it from a chat, with the key of the one run in its address.
  app.get("/sessions/:id", async (c) => {
    const key = c.req.query("key") ?? "";
    const page = await operations.sessionPage(c.req.param("id"), (sessionKey) => sameSecret(key, sessionKey));
    if (page === null) return refuse(c, { code: "resource_not_found", detail: "There is no such session." });
    return new Response(page, { headers: sessionPageHeaders });
  });

  app.use(async (c, next) => {
    if (isAuthorized(c.req.header("authorization"), apiKey)) return next();
    return refuse(c, {
      code: "authentication_required",
      detail: "Send the API key as a bearer token in the Authorization header.",
      headers: { "www-authenticate": "Bearer" },
    });
  });

  app.post("/agent/run", async (c) => answer(c, await operations.create(c.req.raw)));
  app.post("/agent/runs", async (c) => answer(c, await operations.create(c.req.raw)));
  app.get("/agent/runs", async (c) => answer(c, await operations.list(new URL(c.req.url).searchParams)));
  app.get("/agent/runs/:id", (c) => answer(c, operations.fetch(c.req.param("id"))));
  app.get("/agent/runs/:id/conversation", async (c) =>
    answer(c, await operations.conversation(c.req.param("id"))),
  );
  app.post("/agent/runs/:id/followups", async (c) =>
    answer(c, await operations.followUp(c.req.param("id"), c.req.raw)),
  );
  app.post("/agent/runs/:id/cancel", async (c) => answer(c, await operations.cancel(c.req.param("id"))));

  for (const [path, allow] of Object.entries(methods)) {
    app.all(path, (c) =>
      refuse(c, {
        code: "operation_not_supported",
        detail: `${c.req.method} is not a method of this path; it has ${allow}.`,
        status: 405,
        headers: { allow },
      }),
    );
  }
  app.notFound((c) => refuse(c, { code: "resource_not_found", detail: "There is nothing at this path." }));
  app.onError((error, c) => {
    const traceId = c.get("traceId");
    log.error("a request failed", { method: c.req.method, path: c.req.path, traceId, error });
    return refuse(c, { code: "internal_error", detail: `The service's log tells more under ${traceId}.` });
  });
  return app;
}

const noStore = { "cache-control": "no-store" };

const methods: Readonly<Record<string, string>> = {
  "/agent/run": "POST",
  "/agent/runs": "GET, HEAD, POST",
  "/agent/runs/:id": "GET, HEAD",
  "/agent/runs/:id/conversation": "GET, HEAD",
  "/agent/runs/:id/followups": "POST",
  "/agent/runs/:id/cancel": "POST",
};
