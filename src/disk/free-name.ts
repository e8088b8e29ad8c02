import { existsSync } from "node:fs";

/** Returns the first of `path`, `path-2`, `path-3` … that does not exist. */
export function freeName(path: string): string {
  let name = path;
  for (let count = 2; existsSync(name); count += 1) name = `${path}-${count}`;
  return name;
}
