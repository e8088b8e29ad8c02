import { onTestFinished } from "vitest";
import { type Child, startChild } from "#test/support/child.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { startScript } from "./start-script.ts";

/**
 * Starts the bot in `cwd` (a fresh folder by default) with a bare environment, on a free port. `script` is another
 * composition root than the product's. The bot is killed when the test ends.
 */
export async function startBot(
  env: Readonly<Record<string, string>> = {},
  how: { cwd?: string; script?: string; nodeArgs?: readonly string[]; scriptArgs?: readonly string[] } = {},
): Promise<Child> {
  const { cwd = await freshFolder(), script = startScript, nodeArgs = [], scriptArgs = [] } = how;
  const child = startChild([...nodeArgs, script, ...scriptArgs], { cwd, env: { PORT: "0", ...env } });
  onTestFinished(async () => void (await child.end("SIGKILL")));
  return child;
}
