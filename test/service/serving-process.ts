/** The service as a process of its own, for tests that kill it: folder and command are its arguments. */
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createService } from "../../src/service/service.ts";

const [, , folder = "", command = ""] = process.argv;
const nothing = (): void => undefined;
const service = createService({
  dataDir: folder,
  workDir: join(folder, "work"),
  apiKey: "key-of-the-tests",
  publicUrl: () => "http://127.0.0.1",
  command,
  environment: { PATH: process.env.PATH },
  maxRuns: 1,
  timeoutMs: 60_000,
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
});
await service.start();
serve({ fetch: (request) => service.fetch(request), hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
