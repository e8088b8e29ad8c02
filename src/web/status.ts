import type { Registry } from "prom-client";
import type { Log } from "#base/log.ts";
import { type Check, createReadiness } from "./readiness.ts";
import { type Site, sendJson } from "./router.ts";

const options = { timeoutMs: 5000, cacheMs: 2000, now: Date.now };

/** Logs failed checks: an invalid credential would otherwise go unnoticed until it is used. */
export async function warnOfUnready(checks: Readonly<Record<string, Check>>, log: Log): Promise<void> {
  for (const [name, answer] of Object.entries(await createReadiness(checks, options)())) {
    if (answer !== "ok") log.warn(`Not ready: ${name}`, { reason: answer });
  }
}

/** `GET /readyz` and `GET /metrics`. A check has 5 s; its result is reused for 2 s. */
export function statusRoutes(checks: Readonly<Record<string, Check>>, metrics: Registry): Site["routes"] {
  const readiness = createReadiness(checks, options);
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
