import { createServer, type RequestListener } from "node:http";
import type { Log } from "#base/log.ts";
import { tellBrokenRequests } from "./broken-request.ts";
import { createRouter, type Site, sendJson } from "./router.ts";

export type Listening =
  /** `port` is the real one, also where any free one was asked for. */
  | { readonly ok: true; readonly port: number; readonly url: string }
  /** `problem`: a sentence that says what to do. */
  | { readonly ok: false; readonly problem: string };

export interface Web {
  /** Begins to listen. Until `open`, everything but `/healthz` hears 503 and is to be tried again. */
  listen(at: { readonly host: string; readonly port: number }): Promise<Listening>;
  /** Lets requests in. */
  open(site: Site): void;
  /** The bot begins to stop: connections end after `stopWithinMs`, also where `stop` comes later. */
  drain(): void;
  /** Takes no new request and waits for those under way, `stopWithinMs` at most. */
  stop(): Promise<void>;
}

/** Whoever supervises the bot has often lost patience after ten seconds. */
const defaultStopWithinMs = 9_000;

/** `stopWithinMs`: how long requests under way may take after `drain` or `stop`; 9,000 if absent. */
export function createWeb(options: { readonly log: Log; readonly stopWithinMs?: number }): Web {
  const { log, stopWithinMs = defaultStopWithinMs } = options;
  const alive: Site["routes"] = {
    "GET /healthz": (_, response) => sendJson(response, 200, { status: "ok" }),
  };
  const starting: RequestListener = (request, response) => {
    if (request.url === "/healthz") return sendJson(response, 200, { status: "ok" });
    response.setHeader("retry-after", "1");
    sendJson(response, 503, { error: "nothing is answered yet: try again in a moment" });
  };
  let router = starting;
  const server = createServer((request, response) => router(request, response));
  tellBrokenRequests(server);
  // Slow senders are let go; 25 MB, the largest webhook, fits in these times.
  server.headersTimeout = 15_000;
  server.requestTimeout = 60_000;

  let patience: NodeJS.Timeout | null = null;
  let isLate = false;
  const drain = (): void => {
    patience ??= setTimeout(() => {
      isLate = true;
      server.closeAllConnections();
    }, stopWithinMs);
  };

  return {
    drain,
    listen: ({ host, port }) =>
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
    open: (site) => {
      router = createRouter({ ...site, routes: { ...alive, ...site.routes } }, log);
    },
    stop: () => {
      if (!server.listening) return Promise.resolve();
      drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A kept-alive connection becomes idle only once its last answer is out, hence again and again.
      const closing = setInterval(
        () => (isLate ? server.closeAllConnections() : server.closeIdleConnections()),
        50,
      );
      return closed.finally(() => {
        clearInterval(closing);
        clearTimeout(patience ?? undefined);
      });
    },
  };
}

/** An address that a program on this machine can use for a server that listens on `host`. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

function sentence(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case "EADDRINUSE":
      return `PORT ${port} is already in use on ${host}: stop what listens there, or set PORT to another number.`;
    case "EACCES":
      return `PORT ${port} may not be used by this account: set PORT to a number above 1023.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `HOST ${host} is no address of this machine: set HOST to 127.0.0.1, or to 0.0.0.0 for every address.`;
    default:
      return `Listening on HOST ${host}, PORT ${port} failed (${code ?? "no code"}): check both.`;
  }
}
