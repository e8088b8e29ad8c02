/** The machine that the figures were measured on. */
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { resolve } from "node:path";

/** Returns the name of the folder's file system; "unknown" if the system does not provide it. */
function fileSystemOf(dir: string): string {
  let mounts: string;
  try {
    mounts = readFileSync("/proc/mounts", "utf8");
  } catch {
    return "unknown";
  }
  const at = `${resolve(dir)}/`;
  const found = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, mount = ""]) => at.startsWith(mount.endsWith("/") ? mount : `${mount}/`))
    .sort(([, one = ""], [, other = ""]) => other.length - one.length)[0];
  const [, , type = "unknown", options = ""] = found ?? [];
  return `${type} (${options})`;
}

export const machineOf = (dir: string): readonly string[] => [
  `Machine   ${cpus().length} cores, ${cpus()[0]?.model ?? "unknown"}; ${Math.round(totalmem() / 2 ** 30)} GB; ${process.platform} ${release()}`,
  `Node      ${process.version}`,
  `Data      ${resolve(dir)}, ${fileSystemOf(dir)}`,
  `Load      ${loadavg()
    .map((each) => each.toFixed(1))
    .join(" ")} before; other work on the machine makes every figure worse`,
];
