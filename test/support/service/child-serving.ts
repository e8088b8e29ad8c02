import { onTestFinished } from "vitest";
import type { Catalog } from "#service/catalog.ts";
import { type Api, apiAt, apiKey } from "./serving.ts";
import { startServiceProcess } from "./start-service.ts";

/** The embedded service in a process of its own, to be killed by the test or at its end. */
export async function childServing(
  folder: string,
  command: string,
  { catalog, shell }: { readonly catalog?: Catalog; readonly shell?: string } = {},
): Promise<{ readonly api: Api; readonly killed: () => Promise<unknown> }> {
  const options = { folder, command, apiKey, ...(catalog === undefined ? {} : { catalog }) };
  const child = startServiceProcess(options, shell === undefined ? {} : { shell });
  const killed = (): Promise<unknown> => child.end("SIGKILL");
  onTestFinished(async () => void (await killed()));
  return { api: apiAt(await child.url), killed };
}
