/** The embedded service as a process of its own: folder, port and number of runs at once are its arguments. */
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createService } from "#service/service.ts";

const [, , folder = "", port = "0", maxRuns = "8"] = process.argv;
const nothing = (): void => undefined;
let url = "";
const service = createService({
  dataDir: folder,
  workDir: join(folder, "work"),
  apiKey: "api-key-of-the-town",
  publicUrl: () => url,
  command: join(import.meta.dirname, "agent.sh"),
  environment: { PATH: process.env.PATH, KILL_LOG: process.env.KILL_LOG },
  maxRuns: Number(maxRuns),
  timeoutMs: 60_000,
  graceMs: 200,
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
});
await service.start();
const server = serve(
  { fetch: (request) => service.fetch(request), hostname: "127.0.0.1", port: Number(port) },
  (at) => {
    url = `http://127.0.0.1:${at.port}`;
    process.stdout.write(`${url}\n`);
  },
);
process.on("SIGTERM", () => {
  server.close();
  void service.stop().then(() => process.exit(0));
});
