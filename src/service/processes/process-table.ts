/** The processes of this machine. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import pLimit from "p-limit";

/** Each check holds open files and memory, and a machine may have many thousand processes. */
const atOnce = 64;

/** The time between two checks whether signalled processes have ended. */
export const checkMs = 50;
/** The time that killed processes have to disappear. */
export const afterKillMs = 2_000;

/** Sends a signal to a process, or to the group -`pid`; 0 only checks. False if there is none to be signalled. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** The ids of all processes for which `matches` resolves with true; null where there is no /proc. */
export async function processesThat(matches: (pid: number) => Promise<boolean>): Promise<number[] | null> {
  if (process.platform !== "linux") return null;
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return null;
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await pLimit(atOnce).map(pids, async (pid) => ((await matches(pid)) ? [pid] : []));
  return found.flat();
}

/** The state, process group and start of a process by proc(5)'s `stat`; undefined fields if it is gone. */
export async function statOf(
  pid: number,
): Promise<Partial<Record<"state" | "group" | "startTicks", string | undefined>>> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field, the name, may contain spaces and brackets: the third follows its last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0], group: fields[2], startTicks: fields[19] };
}

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
