import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/**
 * Puts a `fetch` behind a plain node:http server. An answer that breaks off becomes a broken connection, and
 * a caller that has gone aborts the request's signal.
 */
export const nodeListener =
  (fetch: (request: Request) => Promise<Response>): RequestListener =>
  (incoming, outgoing) => {
    serve(fetch, incoming, outgoing).catch(() => incoming.socket.destroy());
  };

async function serve(
  fetch: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const { method = "GET", url = "/", headers, headersDistinct } = incoming;
  const body = method === "GET" || method === "HEAD" ? null : await buffer(incoming);
  const request = new Request(new URL(url, `http://${headers.host ?? "sandbox"}`), {
    method,
    headers: Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
    body,
    signal: gone.signal,
  });
  const response = await fetch(request);
  const answer = Buffer.from(await response.arrayBuffer());
  if (outgoing.destroyed) return;
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(answer);
}
