import type { IncomingMessage, ServerResponse } from "node:http";

/** How long a sender may go on after it was refused, so that it reads the answer. */
const graceMs = 1_000;

/**
 * Refuses with 413 a body that says it is longer than `limitBytes`: true then, and the request is answered.
 * Bolt counts what arrives and refuses what says nothing, but leaves the rest of it in the pipe; in either
 * case the rest is thrown away unread for a moment, and then the connection ends.
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
  response.writeHead(413);
  response.end();
  return true;
}
