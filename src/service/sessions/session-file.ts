import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";

const chunkBytes = 64_000;

/**
 * Serves the file as a download, never for display: an agent wrote it, and a page from our own address could act
 * as ours. null if it is gone or no longer an ordinary file. Sends its length at the time of the request.
 */
export async function fileResponse(path: string, name: string, method: string): Promise<Response | null> {
  // The agent may have put a link or a pipe in the file's place.
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

/** Whether there is an ordinary file, and no link, at the path. */
export const isFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => null))?.isFile() ?? false;

/** Encoded for a header parameter (RFC 8187). */
const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  );

/** The first `size` bytes, read on demand. */
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
