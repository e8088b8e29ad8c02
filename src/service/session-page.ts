import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { Run, RunDocument } from "./run-document.ts";
import { isTurnUnderWay } from "./run-life.ts";
import { isEnded } from "./run-wire.ts";

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .75rem 1rem; border: 1px solid #8886; border-radius: 6px }
  h2 { font-size: 1rem; margin: 1.5rem 0 .25rem }
  :root { color-scheme: light dark }
`;

/** No scripts, nothing from elsewhere, no frames; the address holds a key, so it is told to nobody. */
export const sessionPageHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
  "cache-control": "no-store",
};

const speakers = { user: "Asked", assistant: "Agent", system: "Service" } as const;

/** A run for people to read: its state, what was asked and what the agent wrote. All text is escaped. */
export async function sessionPage(document: RunDocument, live: string | null): Promise<string> {
  const { run, said, waiting } = document;
  const part = (who: string, text: string) => html`<h2>${who}</h2><pre>${text}</pre>`;
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${isEnded(run.state) ? "" : html`<meta http-equiv="refresh" content="5">`}
<title>${run.title}</title>
<style>${raw(style)}</style>
</head>
<body>
<h1>${run.title}</h1>
<p><strong>${stateInWords[run.state]}</strong>${run.statusMessage === null ? "" : `: ${run.statusMessage.message}`}</p>
${said.filter(({ text }) => text !== "").map(({ role, text }) => part(speakers[role], text))}
${live === null || !isTurnUnderWay(document) ? "" : part("Agent, writing", live)}
${waiting.map(({ text }) => part("Asked, not yet read by the agent", text))}
</body>
</html>
`;
  return page.toString();
}

const stateInWords: Readonly<Record<Run["state"], string>> = {
  QUEUED: "Queued",
  PENDING: "Being prepared",
  CLAIMED: "Taken by a worker",
  INPROGRESS: "In progress",
  BLOCKED: "Waits for an answer",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Failed: the service had an error",
  CANCELLED: "Cancelled",
};
