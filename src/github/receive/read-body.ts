import type { IncomingMessage } from "node:http";

/**
 * Reads the request's body as UTF-8 text. `too-large`: it is announced or turns out to be longer than
 * `maxBytes`, and the rest is not read; `aborted`: the connection ended.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ ok: true; text: string } | { ok: false; reason: "too-large" | "aborted" }> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > maxBytes) return Promise.resolve({ ok: false, reason: "too-large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      request.off("data", onData);
      request.pause();
      resolve({ ok: false, reason: "too-large" });
    };
    request.on("data", onData);
    request.once("end", () => resolve({ ok: true, text: Buffer.concat(chunks).toString("utf8") }));
    request.once("error", () => resolve({ ok: false, reason: "aborted" }));
    request.once("close", () => resolve({ ok: false, reason: "aborted" }));
  });
}
