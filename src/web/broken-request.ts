/** Responses to requests that Node can't parse. */
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** A problem document (RFC 9457), in the embedded service's form. */
function problemOf(status: number, detail: string): string {
  const title = STATUS_CODES[status] ?? "Bad Request";
  return JSON.stringify({
    type: "urn:agent-runs:problem/invalid_request",
    title,
    status,
    error: `${title}: ${detail}`,
    detail,
    retryable: status === 408,
  });
}

const mediaType = "application/problem+json";

/** The problem document as a response. */
export const problemResponse = (status: number, detail: string): Response =>
  new Response(problemOf(status, detail), { status, headers: { "content-type": mediaType } });

/** Status and sentence by the code of Node's error. */
const refusals: ReadonlyMap<string, readonly [number, string]> = new Map([
  ["HPE_HEADER_OVERFLOW", [431, "The address and the headers are longer than 16 KB."]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "The extensions of the body's chunks are too long."]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "The request did not arrive completely in time."]],
]);
const notHttp = [400, "The request is not valid HTTP."] as const;

/** Makes the server answer requests that it can't parse with a problem document; Node sends only a status. */
export function answerBrokenRequests(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request, response) => latest.set(request.socket, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const answer = latest.get(socket);
    // After a complete request, this must not look like its answer, or appear inside it.
    const isPending = answer !== undefined && !answer.writableFinished;
    if (!socket.writable || (isPending && (answer.headersSent || answer.req.complete))) {
      socket.destroy();
      return;
    }
    const [status, detail] = refusals.get(error.code ?? "") ?? notHttp;
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
