import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "./durable-file.ts";
import type { Run } from "./run-document.ts";

/**
 * Makes what a turn needs on disk: the run's folder, which stays empty so that an agent can clone into it,
 * and, outside of it, the file with the run's MCP servers, which may hold secrets. Rejects with the file
 * system's error.
 */
export async function makeWorkFolder(
  workDir: string,
  mcpDir: string,
  run: Run,
): Promise<{ readonly folder: string; readonly mcpFile: string | null }> {
  const folder = join(workDir, run.id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const servers = run.config.mcp_servers ?? {};
  if (Object.keys(servers).length === 0) return { folder, mcpFile: null };
  await mkdir(mcpDir, { recursive: true, mode: 0o700 });
  const mcpFile = join(mcpDir, `${run.id}.json`);
  await writeDurably(mcpFile, JSON.stringify({ mcpServers: servers }));
  return { folder, mcpFile };
}
