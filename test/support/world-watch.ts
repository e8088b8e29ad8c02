/** What can be seen of the bot's process from outside. */
import { readdirSync, readFileSync } from "node:fs";

/** The one process among our children that runs the bot. */
export function pidOfBot(): number {
  const children = readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "),
  );
  const bots = children.filter((pid) => pid !== "" && commandOf(pid).includes("src/start.mjs"));
  const [pid] = bots;
  if (pid === undefined || bots.length !== 1) throw new Error(`${bots.length} processes are the bot`);
  return Number(pid);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Resident memory in megabytes. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error(`process ${pid} is gone`);
  return Number(kilobytes) / 1024;
}
