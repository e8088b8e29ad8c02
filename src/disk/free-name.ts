import { existsSync } from "node:fs";

/** `path` if nothing is there, else the first of `path-2`, `path-3` … where nothing is. */
export function freeName(path: string): string {
  let name = path;
  for (let count = 2; existsSync(name); count += 1) name = `${path}-${count}`;
  return name;
}
