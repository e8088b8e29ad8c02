import type { Registry } from "prom-client";
import { type Check, createReadiness } from "./readiness.ts";
import { type Site, sendJson } from "./router.ts";

/** `GET /readyz` and `GET /metrics`. A check has 5 s to answer, and an answer holds for 2 s. */
export function statusRoutes(checks: Readonly<Record<string, Check>>, metrics: Registry): Site["routes"] {
  const readiness = createReadiness(checks, { timeoutMs: 5000, cacheMs: 2000, now: Date.now });
  return {
    "GET /readyz": async (_, response) => {
      const answer = await readiness();
      sendJson(response, Object.values(answer).every((one) => one === "ok") ? 200 : 503, answer);
    },
    "GET /metrics": async (_, response) => {
      const text = await metrics.metrics();
      response.writeHead(200, { "content-type": metrics.contentType });
      response.end(text);
    },
  };
}
