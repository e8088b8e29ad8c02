import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

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

/** The boot's id and the clock ticks from boot to start, the 22nd field of proc(5)'s `stat`. */
async function startOnLinux(pid: number): Promise<string | null> {
  const [stat, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
  ]);
  // The second field, the name, may contain spaces and brackets: count from its last bracket.
  const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return ticks === undefined ? null : `${boot.trim()}:${ticks}`;
}

const run = promisify(execFile);

async function startByPs(pid: number): Promise<string | null> {
  const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]);
  return stdout.trim() || null;
}
