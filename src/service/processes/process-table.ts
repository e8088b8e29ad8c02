import { readdir } from "node:fs/promises";

/** Each look holds files open and memory, and a machine may have many thousand processes. */
const atOnce = 64;

/** The processes that `is` says yes to, among all of the machine; null where there is no /proc to see them in. */
export async function processesThat(is: (pid: number) => Promise<boolean>): Promise<number[] | null> {
  if (process.platform !== "linux") return null;
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return null;
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found: number[] = [];
  for (let from = 0; from < pids.length; from += atOnce) {
    const some = pids.slice(from, from + atOnce);
    const answers = await Promise.all(some.map(is));
    found.push(...some.filter((_, at) => answers[at] === true));
  }
  return found;
}
