import type { Registry } from "prom-client";
import type { Log } from "#base/log.ts";
import { type Check, createReadiness } from "./readiness.ts";
import { type Site, sendJson } from "./router.ts";

const options = { timeoutMs: 5000, cacheMs: 2000, now: () => performance.now() };

/** Logs notes and failed checks: an invalid credential would otherwise go unnoticed until it is used. */
export async function warnOfUnready(
  checks: Readonly<Record<string, Check>>,
  log: Log,
  notes: Readonly<Record<string, string>>,
): Promise<void> {
  const answers = { ...notes, ...(await createReadiness(checks, options)()) };
  for (const [name, answer] of Object.entries(answers)) {
    if (answer !== "ok") log.warn(`Not ready: ${name}`, { reason: answer });
  }
}

/**
 * `GET /readyz` and `GET /metrics`. A check has 5 s; its result is reused for 2 s. `notes` are shown beside the
 * checks and leave the status at 200: a supervisor that restarts the bot or takes it out of service for them would
 * stop what works, and mend nothing.
 */
export function statusRoutes(
  checks: Readonly<Record<string, Check>>,
  metrics: Registry,
  notes: () => Readonly<Record<string, string>> = () => ({}),
): Site["routes"] {
  const readiness = createReadiness(checks, options);
  return {
    "GET /readyz": async (_, response) => {
      const answer = await readiness();
      sendJson(response, Object.values(answer).every((one) => one === "ok") ? 200 : 503, {
        ...notes(),
        ...answer,
      });
    },
    "GET /metrics": async (_, response) => {
      const text = await metrics.metrics();
      response.writeHead(200, { "content-type": metrics.contentType });
      response.end(text);
    },
  };
}
