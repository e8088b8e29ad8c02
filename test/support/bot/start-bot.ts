import { onTestFinished } from "vitest";
import { type Child, startChild } from "#test/support/child.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { startScript } from "./start-script.ts";

/**
 * Starts the bot in `cwd` (a fresh folder by default) with a bare environment, on a free port. It is killed
 * when the test ends.
 */
export async function startBot(
  env: Readonly<Record<string, string>> = {},
  how: { cwd?: string; nodeArgs?: readonly string[]; scriptArgs?: readonly string[] } = {},
): Promise<Child> {
  const { cwd = await freshFolder(), nodeArgs = [], scriptArgs = [] } = how;
  const child = startChild([...nodeArgs, startScript, ...scriptArgs], { cwd, env: { PORT: "0", ...env } });
  onTestFinished(async () => void (await child.end("SIGKILL")));
  return child;
}
