import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "#disk/durable-file.ts";
import type { Run } from "#service/run/run-document.ts";

/** Part of a `Turn`: its files outside of its working folder. */
export type WorkFiles = Awaited<ReturnType<typeof makeWorkFiles>>;

/**
 * Makes a turn's files in subfolders of `folder`, not in its working folder, because they may hold secrets. Rejects
 * with the file system's error.
 */
export async function makeWorkFiles(folder: string, run: Run) {
  const artifactsFolder = join(artifactsIn(folder), run.id);
  const mcpFolder = mcpFolderOf(folder);
  await Promise.all(
    [artifactsFolder, mcpFolder].map((path) => mkdir(path, { recursive: true, mode: 0o700 })),
  );
  const ownFiles = join(mcpFolder, run.id);
  const mcpServers = run.config.mcp_servers ?? {};
  const mcpFile = Object.keys(mcpServers).length === 0 ? null : `${ownFiles}.json`;
  if (mcpFile !== null) await writeDurably(mcpFile, JSON.stringify({ mcpServers }));
  return { mcpFile, mcpServers, ownFiles, artifactsFolder };
}

/** Holds one folder of artifacts for each run. */
export const artifactsIn = (folder: string): string => join(folder, "artifacts");
/** Holds the files with MCP servers, which each turn writes again. */
export const mcpFolderOf = (folder: string): string => join(folder, "mcp");
