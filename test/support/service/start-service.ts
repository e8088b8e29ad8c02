import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Catalog } from "#service/catalog.ts";
import { type Child, type ChildOptions, startChild } from "#test/support/child.ts";

const script = join(import.meta.dirname, "service-process.ts");

export interface ServiceProcessOptions {
  readonly folder: string;
  readonly command: string;
  readonly apiKey: string;
  readonly catalog?: Catalog;
  /** The environment of the agents. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly maxRuns?: number;
  readonly graceMs?: number;
  /** A free one by default. */
  readonly port?: number;
}

/** Starts the embedded service in a process of its own. The caller ends it. `shell`: a line that runs `"$@"`. */
export function startServiceProcess(
  options: ServiceProcessOptions,
  more: Omit<ChildOptions, "command"> & { readonly shell?: string } = {},
): Child {
  const { shell, ...rest } = more;
  // As the bot does: most of a start is reading sources.
  const env = { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), ...rest.env };
  const childOptions = { ...rest, env };
  const args = [script, JSON.stringify(options)];
  if (shell === undefined) return startChild(args, childOptions);
  return startChild(["-c", shell, "sh", process.execPath, ...args], { ...childOptions, command: "/bin/sh" });
}
