/** The measured service, in its own process. Its one agent works on the first run for ever. */
import { setFlagsFromString } from "node:v8";
import { serve } from "@hono/node-server";
import { endWithParent } from "#bench/world/ground.ts";
import { createService } from "#service/service.ts";
import { apiKey } from "./service-fill.ts";

endWithParent();
// As src/start.mjs does.
setFlagsFromString("--heap-growing-percent=40");
const [, , folder = ""] = process.argv;
const nothing = (): void => undefined;
const begin = performance.now();
const service = createService({
  dataDir: folder,
  workDir: folder,
  apiKey,
  publicUrl: () => "http://127.0.0.1",
  environment: {},
  maxRuns: 1,
  maxQueued: Number.MAX_SAFE_INTEGER,
  timeoutMs: 2 ** 31 - 1,
  demoStepMs: 2 ** 31 - 1,
  log: {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (what) => void process.stderr.write(`${what}\n`),
  },
});
await service.start();
process.stdout.write(`ready after ${performance.now() - begin} ms\n`);
serve({ fetch: (request) => service.fetch(request), hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  process.stdout.write(`listens at http://127.0.0.1:${port}\n`);
});
