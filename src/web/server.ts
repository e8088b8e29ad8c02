import { createServer } from "node:http";
import type { Log } from "#base/log.ts";
import { answerBrokenRequests } from "./broken-request.ts";
import { createEarlyRequests } from "./early-requests.ts";
import { createRouter, type Listener, type Site, sendJson } from "./router.ts";

/** The result of `listen`. */
export type Listening =
  /** `port` is the actual port, also if 0 was requested. */
  | { readonly ok: true; readonly port: number; readonly url: string }
  /** `problem` is a sentence that says what to do. */
  | { readonly ok: false; readonly problem: string };

/** Options of `createWeb`. */
export interface WebOptions {
  readonly log: Log;
  /**
   * How long requests under way may take after `drain` or `stop`; 9,000 if absent, since supervisors often kill a
   * process after ten seconds.
   */
  readonly stopWithinMs?: number;
  /** How long senders wait for an answer, in milliseconds, by path; 10,000 if absent. */
  readonly answerWithinMs?: Readonly<Record<string, number>>;
}

/** Creates the HTTP server of the bot or the service. */
export function createWeb({ log, stopWithinMs = 9_000, answerWithinMs = {} }: WebOptions) {
  const early = createEarlyRequests(answerWithinMs);
  const healthy: Listener = (_, response) => sendJson(response, 200, { status: "ok" });
  let listener: Listener = (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/healthz") return early.hold(request, response);
    response.setHeader("retry-after", "1");
    return sendJson(response, 503, { status: "starting" });
  };
  const server = createServer((request, response) => void listener(request, response, 0));
  answerBrokenRequests(server);
  // Ends slow requests; the largest webhook, 25 MB, fits in these times.
  server.headersTimeout = 15_000;
  server.requestTimeout = 60_000;
  // A proxy that sends a request just when this side closes the idle connection answers 502, which Slack and GitHub
  // do not repeat for everything. Caddy keeps idle connections for two minutes, most others for less.
  server.keepAliveTimeout = 125_000;

  let deadline: NodeJS.Timeout | null = null;
  let isLate = false;
  const drain = (): void => {
    deadline ??= setTimeout(() => {
      isLate = true;
      server.closeAllConnections();
    }, stopWithinMs);
  };

  return {
    /** Starts the time limit for stopping: connections end after `stopWithinMs`, even if `stop` comes later. */
    drain,
    /**
     * Starts to listen. Requests wait until `open` as long as their senders do, then get a 503 with `Retry-After`;
     * `/healthz` gets it at once.
     */
    listen: ({ host, port }: { host: string; port: number }): Promise<Listening> =>
      new Promise((resolve) => {
        server.once("error", (error: NodeJS.ErrnoException) => {
          resolve({ ok: false, problem: sentence(error.code, host, port) });
        });
        server.listen({ host, port }, () => {
          server.removeAllListeners("error");
          server.on("error", (error) => log.error("The HTTP server had an error", { error }));
          const address = server.address();
          const real = typeof address === "object" && address !== null ? address.port : port;
          resolve({ ok: true, port: real, url: `http://${reachable(host)}:${real}` });
        });
      }),
    /** Starts to answer requests, those that have waited first. */
    open: (site: Site): void => {
      listener = createRouter({ ...site, routes: { "GET /healthz": healthy, ...site.routes } }, log);
      early.release(listener);
    },
    /** Refuses new requests and waits for those under way, `stopWithinMs` at most. */
    stop: async (): Promise<void> => {
      if (!server.listening) return;
      drain();
      await early.refuse();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A kept-alive connection becomes idle only after its last answer, so this is repeated.
      const closing = setInterval(
        () => (isLate ? server.closeAllConnections() : server.closeIdleConnections()),
        50,
      );
      return closed.finally(() => {
        clearInterval(closing);
        clearTimeout(deadline ?? undefined);
      });
    },
  };
}

/** The host by which programs on this machine reach a server that listens on `host`. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

function sentence(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case "EADDRINUSE":
      return `PORT ${port} is already in use on ${host}: stop the program that uses it, or set PORT to another number.`;
    case "EACCES":
      return `PORT ${port} is not permitted for this account: set PORT to a number above 1023.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `HOST ${host} is not an address of this machine: set HOST to 127.0.0.1, or to 0.0.0.0 for every address.`;
    default:
      return `Listening on HOST ${host}, PORT ${port} failed (${code ?? "no code"}): check both.`;
  }
}
