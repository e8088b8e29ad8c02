import { readdir } from "node:fs/promises";
import pLimit from "p-limit";

/** Each check holds open files and memory, and a machine may have many thousand processes. */
const atOnce = 64;

/** The ids of all processes of this machine for which `matches` resolves with true; null where there is no /proc. */
export async function processesThat(matches: (pid: number) => Promise<boolean>): Promise<number[] | null> {
  if (process.platform !== "linux") return null;
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return null;
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await pLimit(atOnce).map(pids, async (pid) => ((await matches(pid)) ? [pid] : []));
  return found.flat();
}
