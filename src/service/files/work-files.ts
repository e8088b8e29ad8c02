import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { McpServerConfig } from "#agent-runs/schema.ts";
import { writeDurably } from "#disk/durable-file.ts";
import type { Run } from "#service/run/run-document.ts";

/** A turn's files outside of its working folder, since they may hold secrets. The fields are those of `Turn`. */
export interface WorkFiles {
  readonly mcpFile: string | null;
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  readonly ownFiles: string;
  readonly artifactsFolder: string;
}

/** Makes them in subfolders of `folder`. Rejects with the file system's error. */
export async function makeWorkFiles(folder: string, run: Run): Promise<WorkFiles> {
  const artifactsFolder = join(artifactsIn(folder), run.id);
  const mcpFolder = mcpFolderOf(folder);
  await Promise.all(
    [artifactsFolder, mcpFolder].map((path) => mkdir(path, { recursive: true, mode: 0o700 })),
  );
  const ownFiles = join(mcpFolder, run.id);
  const mcpServers = run.config.mcp_servers ?? {};
  if (Object.keys(mcpServers).length === 0) return { mcpFile: null, mcpServers, ownFiles, artifactsFolder };
  const mcpFile = `${ownFiles}.json`;
  await writeDurably(mcpFile, JSON.stringify({ mcpServers }));
  return { mcpFile, mcpServers, ownFiles, artifactsFolder };
}

/** Holds one folder of artifacts for each run. */
export const artifactsIn = (folder: string): string => join(folder, "artifacts");
/** Holds the files with MCP servers, which each turn writes again. */
export const mcpFolderOf = (folder: string): string => join(folder, "mcp");
