/** The baseline: a Hono app that reads the request and answers with a fixed body. */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();
const [, , item = "", created = ""] = process.argv;
const headers = { "content-type": "application/json" };
const app = new Hono();
app.post("/api/v1/agent/runs", async (c) => {
  await c.req.json();
  return c.body(created, 200, headers);
});
app.get("/api/v1/agent/runs/:id", (c) => c.body(item, 200, headers));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  process.stdout.write(`listens at http://127.0.0.1:${port}\n`);
});
