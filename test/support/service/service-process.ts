/** Runs the embedded service as a process of its own. Its one argument is its settings as JSON. */
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createService } from "#service/service.ts";
import { silentLog } from "#test/support/logs.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { ServiceProcessOptions } from "./start-service.ts";

const settings: ServiceProcessOptions = JSON.parse(process.argv[2] ?? "");
const { folder, port = 0, apiKey, environment = gitEnvironment, ...rest } = settings;
let url = "";
const service = createService({
  dataDir: folder,
  workDir: join(folder, "work"),
  apiKey,
  publicUrl: () => url,
  environment,
  maxRuns: 1,
  timeoutMs: 60_000,
  log: silentLog,
  ...rest,
});
await service.start();
const server = serve(
  { fetch: (request) => service.fetch(request), hostname: "127.0.0.1", port },
  (address) => {
    url = `http://127.0.0.1:${address.port}`;
    process.stdout.write(`${url}\n`);
  },
);
process.on("SIGTERM", () => {
  server.close();
  void service.stop().then(() => process.exit(0));
});
