import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type Catalog, emptyCatalog } from "#service/catalog.ts";
import { eventually } from "#test/support/eventually.ts";
import { type Api, apiAt } from "./serving.ts";

/** Starts the service in its own process, so that a test can kill it. */
export async function childServing(
  folder: string,
  command: string,
  catalog: Catalog = emptyCatalog,
): Promise<{ readonly api: Api; readonly killed: () => Promise<void> }> {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      fileURLToPath(new URL("./serving-process.ts", import.meta.url)),
      folder,
      command,
      JSON.stringify(catalog),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const killed = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  onTestFinished(killed);
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const address = await eventually("the child's address", () => /^http:\S+$/m.exec(said)?.[0] ?? null);
  return { api: apiAt(address), killed };
}
