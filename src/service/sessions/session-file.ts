import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const chunkBytes = 64_000;

/**
 * The file to be saved, not shown: an agent wrote it, and under our own address a page of it could act as
 * ours. null if it is gone, or is no ordinary file any more. What is added while it is read is left out.
 */
export async function fileResponse(path: string, name: string, method: string): Promise<Response | null> {
  // Whoever left the file may have put a link or a pipe in its place.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => null);
  if (file === null) return null;
  const stat = await file.stat();
  const isWanted = stat.isFile() && method !== "HEAD";
  if (!isWanted) await file.close();
  if (!stat.isFile()) return null;
  return new Response(isWanted ? contentOf(file, stat.size) : null, {
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encoded(name)}`,
      "content-length": String(stat.size),
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    },
  });
}

/** As RFC 8187 wants it. */
const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  );

/** The first `size` bytes, as they are asked for. */
function contentOf(file: FileHandle, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const most = Math.min(chunkBytes, size - at);
      const { bytesRead, buffer } = await file.read(new Uint8Array(most), 0, most, at);
      at += bytesRead;
      if (bytesRead > 0) controller.enqueue(buffer.subarray(0, bytesRead));
      if (bytesRead > 0 && at < size) return;
      await file.close();
      controller.close();
    },
    cancel: () => file.close(),
  });
}
