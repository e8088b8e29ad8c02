/** What the operating system reports about a process. */
import { readFileSync } from "node:fs";

/** Whether a process with this id is running. A zombie counts as ended. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** The resident memory of a running process in megabytes. Linux only. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error(`process ${pid} is gone`);
  return Number(kilobytes) / 1024;
}
