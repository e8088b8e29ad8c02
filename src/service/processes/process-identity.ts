import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { statOf } from "./process-table.ts";

/**
 * The start time of the process in the system's notation; null if there is no such process, or it can't be read.
 * Ids are reused, so only the id and the start time together identify a process.
 */
export async function startOf(pid: number): Promise<string | null> {
  try {
    return process.platform === "linux" ? await startOnLinux(pid) : await startByPs(pid);
  } catch {
    return null;
  }
}

/** The boot's id and the clock ticks from boot to start. */
async function startOnLinux(pid: number): Promise<string | null> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
  const { startTicks } = await statOf(pid);
  return startTicks === undefined ? null : `${boot.trim()}:${startTicks}`;
}

const run = promisify(execFile);

async function startByPs(pid: number): Promise<string | null> {
  const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]);
  return stdout.trim() || null;
}
