import { lstat, readdir } from "node:fs/promises";
import { extname, join } from "node:path";

/** A file in a run's artifacts folder. */
export interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly mime: string;
  readonly bytes: number;
}

const mostFiles = 50;
const mostBytes = 100_000_000;
const mostLevels = 5;
/** Limits the work, since a folder may hold any number of entries. */
const mostEntries = 2_000;

/**
 * The files in the folder and its subfolders, ordered by path, within limits. Links are not followed, and entries
 * that can't be read are left out. Rejects if the folder itself can't be read.
 */
export async function artifactFiles(folder: string): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  let entries = 0;
  const walk = async (path: string, level: number): Promise<void> => {
    const listed = readdir(path, { withFileTypes: true });
    const names = (await (level === 1 ? listed : listed.catch(() => []))).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    for (const entry of names) {
      if (found.length >= mostFiles || ++entries > mostEntries) return;
      const inner = join(path, entry.name);
      if (entry.isDirectory() && level < mostLevels) await walk(inner, level + 1);
      if (!entry.isFile()) continue;
      const size = (await lstat(inner).catch(() => null))?.size ?? Number.POSITIVE_INFINITY;
      if (size > mostBytes) continue;
      found.push({ name: entry.name, path: inner, mime: mimeOf(entry.name), bytes: size });
    }
  };
  if ((await lstat(folder)).isDirectory()) await walk(folder, 1);
  return found;
}

const mimes: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".diff": "text/x-diff",
  ".gif": "image/gif",
  ".gz": "application/gzip",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".log": "text/plain",
  ".md": "text/markdown",
  ".mp4": "video/mp4",
  ".patch": "text/x-diff",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".webm": "video/webm",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".zip": "application/zip",
};

const mimeOf = (name: string): string => mimes[extname(name).toLowerCase()] ?? "application/octet-stream";
