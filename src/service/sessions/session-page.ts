/** A run's page: complete without scripts, and kept up to date by its own script. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { html, raw } from "hono/html";
import type { SessionLinks } from "./session-keys.ts";
import type { SessionArtifact, SessionEntry } from "./session-message.ts";
import type { SessionView } from "./session-view.ts";

/** The modules of the page's script in their order. One inline script can be allowed by its hash. */
const scriptParts = ["text.js", "follow.js", "elements.js", "entries.js", "steer.js", "live.js"];

/**
 * Reads the page's files. Returns a function that renders the page for a reader with `right`; `known` is the id of
 * the event that corresponds to the view (`knownOf`).
 */
export function createSessionPage() {
  const file = (name: string): string => readFileSync(join(import.meta.dirname, "../page", name), "utf8");
  const style = ["colours.css", "session.css"].map(file).join("\n");
  const script = scriptParts.map((name) => inlined(file(name))).join("\n");
  const headers = pageHeaders(style, script);
  return async (view: SessionView, right: SessionLinks, known: string): Promise<Response> =>
    new Response(String(await pageOf(view, right, known, style, script)), { headers });
}

/** A module without its imports and exports, which the modules before it define. */
const inlined = (module: string): string =>
  module.replaceAll(/^import [^;]*;\n/gm, "").replaceAll(/^export /gm, "");

/** Allows only our own script and style. The address has a key, so it must not leak as a referrer. */
const pageHeaders = (style: string, script: string): Record<string, string> => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
});

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;

function pageOf(
  { head, entries }: SessionView,
  right: SessionLinks,
  known: string,
  style: string,
  script: string,
) {
  const { title, words, state, message, isEnded, facts, artifacts } = head;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${isEnded ? "" : html`<noscript><meta http-equiv="refresh" content="5"></noscript>`}
<title>${words}: ${title}</title>
<style>${raw(style)}</style>
</head>
<body data-known="${known}">
<header>
<h1 id="title">${title}</h1>
<div class="bar">
<p id="state" class="state" role="status" data-state="${state}"><strong>${words}</strong></p>
<p id="elapsed" class="quiet"></p>
${right === "steer" ? html`<button id="cancel" type="button" hidden>Cancel run</button>` : ""}
</div>
</header>
<main>
<p id="message" class="message"${message === null ? html` hidden` : ""}>${message ?? ""}</p>
<dl id="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<section id="results"${artifacts.length === 0 ? html` hidden` : ""}>
<h2>Results</h2>
<ul id="artifacts">${artifacts.map(artifactOf)}</ul>
</section>
<h2 class="unseen">Conversation</h2>
<ol id="entries">
${entries.map(entryOf)}
</ol>
</main>
<footer>
<button id="latest" type="button" hidden>Show the latest</button>
<p id="connection" class="quiet" role="status"></p>
${right === "steer" ? followUpForm : ""}
</footer>
<script type="module">${raw(script)}</script>
</body>
</html>
`;
}

const artifactOf = ({ text, url }: SessionArtifact) =>
  html`<li>${url === null ? text : html`<a href="${url}" rel="noopener noreferrer nofollow">${text}</a>`}</li>`;

/** The script reads the `data-…` attributes and the text, and renders the entry its own way (entries.js). */
function entryOf({ who, kind, at, text }: SessionEntry) {
  const time = at === null ? "" : html`<time datetime="${new Date(at).toISOString()}">${inWords(at)}</time>`;
  const speaker = kind === "said" ? speakers[who] : headings[kind];
  return html`<li class="entry ${who}" data-who="${who}" data-kind="${kind}" data-at="${at ?? ""}"${
    text === "" ? html` hidden` : ""
  }><h3>${speaker} ${time}</h3><div class="text">${text}</div></li>
`;
}

const inWords = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

const speakers = { user: "Asked", assistant: "Agent", system: "Service" } as const;
const headings = { writing: "Agent, writing", waiting: "Asked, not yet read by the agent" } as const;

const followUpForm = html`<form id="follow-up" hidden>
<label id="follow-up-label" for="follow-up-text">Follow-up</label>
<textarea id="follow-up-text" rows="2" autocomplete="off" aria-describedby="follow-up-hint follow-up-outcome"></textarea>
<div class="bar">
<p id="follow-up-hint" class="quiet">Ctrl or ⌘ with Enter sends.</p>
<button id="send" type="submit">Send</button>
</div>
<p id="follow-up-outcome" role="status"></p>
</form>
<dialog id="confirm" aria-labelledby="confirm-title">
<h2 id="confirm-title">Cancel this run?</h2>
<p>The agent is stopped. Its output so far is kept, and a follow-up can continue the run.</p>
<div class="bar"><button id="confirm-no" type="button">Keep it running</button><button id="confirm-yes" type="button" class="danger">Cancel run</button></div>
</dialog>`;
