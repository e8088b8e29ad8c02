import type { IncomingMessage, ServerResponse } from "node:http";

/** How long a refused sender may go on sending, so that it reads the response. */
const graceMs = 1_000;

/**
 * Responds with 413 and returns true if the request announces more than `limitBytes`. Bolt refuses a body that
 * turns out to be too long, but leaves the rest of it unread: for either refusal the rest is discarded
 * for a moment, and then the connection ends.
 */
export function refuseOverflow(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): boolean {
  response.once("finish", () => {
    if (request.complete) return;
    request.resume();
    setTimeout(() => request.destroy(), graceMs).unref();
  });
  if (Number(request.headers["content-length"] ?? 0) <= limitBytes) return false;
  response.writeHead(413).end();
  return true;
}
