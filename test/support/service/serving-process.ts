/** The service as a process, for tests that kill it. Its arguments are folder, command and catalog. */
import { join } from "node:path";
import { serve } from "@hono/node-server";
import type { Catalog } from "#service/catalog.ts";
import { createService } from "#service/service.ts";
import { gitEnvironment } from "./git-environment.ts";

const [, , folder = "", command = "", written = "{}"] = process.argv;
const catalog: Catalog = JSON.parse(written);
const nothing = (): void => undefined;
const service = createService({
  dataDir: folder,
  workDir: join(folder, "work"),
  apiKey: "key-of-the-tests",
  publicUrl: () => "http://127.0.0.1",
  command,
  catalog,
  environment: gitEnvironment,
  maxRuns: 1,
  timeoutMs: 60_000,
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
});
await service.start();
serve({ fetch: (request) => service.fetch(request), hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
