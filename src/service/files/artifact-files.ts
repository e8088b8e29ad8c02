import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { getMimeType, mimes } from "hono/utils/mime";

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

/** Additions to Hono's table, which takes `.ts` for a video. */
const types = {
  ...mimes,
  diff: "text/x-diff",
  log: "text/plain",
  md: "text/markdown",
  patch: "text/x-diff",
  ts: "text/plain",
  yaml: "application/yaml",
  yml: "application/yaml",
};

const mimeOf = (name: string): string =>
  getMimeType(name, types)?.split(";", 1)[0] ?? "application/octet-stream";
