/** Requests that are turned away before anybody has read them: what they are is told as any other refusal. */
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** A problem document (RFC 9457) of the form that the embedded service answers with. */
function problemOf(status: number, detail: string): string {
  const title = STATUS_CODES[status] ?? "Bad Request";
  return JSON.stringify({
    type: "urn:agent-runs:problem/invalid_request",
    title,
    status,
    error: `${title}: ${detail}`,
    detail,
    // Whoever was too slow may be in time the next time.
    retryable: status === 408,
  });
}

const mediaType = "application/problem+json";

export const problemResponse = (status: number, detail: string): Response =>
  new Response(problemOf(status, detail), { status, headers: { "content-type": mediaType } });

/** By the code of Node's error. */
const refusals: ReadonlyMap<string, readonly [number, string]> = new Map([
  ["HPE_HEADER_OVERFLOW", [431, "The address and the headers are longer than 16 KB."]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "The body's chunks have too long extensions."]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "The request did not arrive whole in time."]],
]);
const noHttp = [400, "This is not HTTP as it is written."] as const;

/** Has the server say what is wrong with requests that it can't read, where Node sends a bare status. */
export function tellBrokenRequests(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request, response) => latest.set(request.socket, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const answer = latest.get(socket);
    // What came after a whole request must not be taken for the answer to it, nor stand amid that.
    const isOwed = answer !== undefined && !answer.writableFinished;
    if (!socket.writable || (isOwed && (answer.headersSent || answer.req.complete))) {
      socket.destroy();
      return;
    }
    const [status, detail] = refusals.get(error.code ?? "") ?? noHttp;
    const body = problemOf(status, detail);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Connection: close",
      "Cache-Control: no-store",
      `Content-Type: ${mediaType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
  });
}
