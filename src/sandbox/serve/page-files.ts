/** The page's files, which are served unchanged. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

const folder = join(import.meta.dirname, "../page");
/** Only these files are ever read. */
const names = [
  ...["index.html", "icon.svg"],
  ...["theme", "parts", "rich", "page", "slack", "github"].map((name) => `${name}.css`),
  ...["page", "act", "dom", "github", "guide", "issue", "message", "rich", "slack", "thread"].map(
    (name) => `${name}.js`,
  ),
];
const types: Readonly<Record<string, string>> = {
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

/**
 * Only our own files load, nothing inline runs, and no string becomes markup, so that texts of people and agents
 * stay harmless even if the page has a bug.
 */
const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** The file as a response; null if there is none. */
export async function pageFile(name: string): Promise<Response | null> {
  if (!names.includes(name)) return null;
  const content = await readFile(join(folder, extname(name) === ".css" ? "styles" : "", name));
  return new Response(new Uint8Array(content), {
    headers: {
      ...securityHeaders,
      "content-type": types[extname(name)] ?? "application/octet-stream",
      "cache-control": "no-cache",
    },
  });
}
