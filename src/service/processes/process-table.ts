/** The processes of this machine, as far as /proc shows them. */
import { readdir, readFile } from "node:fs/promises";
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
