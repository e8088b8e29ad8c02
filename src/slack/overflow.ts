import type { IncomingMessage, ServerResponse } from "node:http";

/** How long a sender may go on after it was refused, so that it reads the answer. */
const graceMs = 1_000;

/**
 * Ends the connection of a sender that goes on sending after its answer. Bolt refuses a body past the limit
 * while it arrives but leaves the rest of it in the pipe: it is thrown away here, unread, for a moment.
 */
export function refuseOverflow(request: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => {
    if (request.complete) return;
    request.resume();
    setTimeout(() => request.destroy(), graceMs).unref();
  });
}
