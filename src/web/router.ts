import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Log } from "#base/log.ts";
import { problemResponse } from "./broken-request.ts";

/** A fetch-style handler. It gets the whole path, its prefix included, and Node's own request. */
export type FetchHandler = (
  request: Request,
  connection: { readonly incoming: { readonly socket: { destroy(): unknown } } },
) => Response | Promise<Response>;

/** Answers a request. `waitedMs`: how long it has waited for the site to open, 0 for most. */
export type Listener = (request: IncomingMessage, response: ServerResponse, waitedMs: number) => unknown;

/** The server's routes. */
export interface Site {
  /** By method and path, such as `POST /slack/events`; a listener may be asynchronous, and may reject. */
  readonly routes: Readonly<Record<string, Listener>>;
  /** By prefix, such as `/api/v1`, for that path and all below it. */
  readonly mounts: Readonly<Record<string, FetchHandler>>;
}

/** Answers with JSON that is not cached. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  });
  response.end(JSON.stringify(body));
}

/** Passes each request to its route or mount; answers 404 or 405 if there is none, and 500 if it throws. */
export function createRouter({ routes, mounts }: Site, log: Log): Listener {
  const paths = new Map<string, Map<string, Listener>>();
  for (const [key, listener] of Object.entries(routes)) {
    const [method = "", path = ""] = key.split(" ");
    paths.set(path, (paths.get(path) ?? new Map()).set(method, listener));
  }
  const longestFirst = Object.entries(mounts).sort(([one], [other]) => other.length - one.length);
  const options = {
    overrideGlobalObjects: false,
    // HTTP/1.0 requests may have no Host.
    hostname: "localhost",
    errorHandler(error: unknown): Response {
      if (error instanceof RequestError) {
        return problemResponse(400, "The address or the Host header is invalid.");
      }
      log.error("A request failed", { error });
      return Response.json({ error: "something went wrong here" }, { status: 500 });
    },
  };
  const prefixes = longestFirst.map(
    ([prefix, fetch]) => [prefix, getRequestListener(fetch, options)] as const,
  );

  const find: Listener = (request, response, waitedMs) => {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    const methods = paths.get(path);
    if (methods !== undefined) {
      // HEAD is GET without the body, which Node omits.
      const listener = methods.get(request.method === "HEAD" ? "GET" : (request.method ?? ""));
      if (listener !== undefined) return listener(request, response, waitedMs);
      response.setHeader("allow", [...methods.keys()].join(", "));
      return sendJson(response, 405, { error: `${path} only accepts ${[...methods.keys()].join(" and ")}` });
    }
    const mount = prefixes.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
    if (mount !== undefined) return mount[1](request, response);
    return sendJson(response, 404, { error: "there is nothing at this path" });
  };

  return async (request, response, waitedMs) => {
    try {
      await find(request, response, waitedMs);
    } catch (error) {
      log.error("A request failed", { method: request.method, path: request.url?.split("?", 1)[0], error });
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: "something went wrong here" });
    }
  };
}
