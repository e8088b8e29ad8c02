import type { IncomingMessage } from "node:http";

/**
 * Reads the request's body as UTF-8 text. `too-large`: it is announced as longer than `maxBytes` or turns out to
 * be, and the rest is not read; `aborted`: the connection ended.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ ok: true; text: string } | { ok: false; reason: "too-large" | "aborted" }> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return { ok: false, reason: "too-large" };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes) return { ok: false, reason: "too-large" };
      chunks.push(chunk);
    }
  } catch {
    return { ok: false, reason: "aborted" };
  }
  return { ok: true, text: Buffer.concat(chunks).toString("utf8") };
}
