import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { JsonSchema } from "./json-schema.ts";
import { schemasAt } from "./json-schema.ts";
import type { OpenApiDocument, OpenApiOperation } from "./openapi.ts";

type Html = ReturnType<typeof html>;

const style = `
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
  h1, h2, h3 { line-height: 1.25 }
  h2 { margin: 2.5rem 0 .5rem }
  section, article { border-top: 1px solid #8884; padding: .25rem 0 1rem }
  h3 { font-size: 1rem; margin: .75rem 0 .25rem }
  h4 { font-size: .85rem; margin: .75rem 0 .25rem; color: light-dark(#666, #aaa) }
  p { margin: .25rem 0 }
  code, pre { font: .9em/1.5 ui-monospace, monospace }
  pre { padding: .75rem 1rem; border: 1px solid #8886; border-radius: 6px; overflow-x: auto }
  dl { margin: 0; display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .15rem 1rem }
  dt, dd { margin: 0; min-width: 0 }
  b.method { display: inline-block; min-width: 3.2em }
  .quiet { color: light-dark(#666, #aaa) }
  nav ul { columns: 20rem; padding-left: 1.2rem; margin: .25rem 0 }
  @media (max-width: 34rem) { dl { display: block } dd { margin: 0 0 .4rem 1rem } }
`;

/** Allows no scripts, no outside content and no frames. */
const headers = {
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
  "cache-control": "no-cache",
};

/** Renders the OpenAPI document as a page. */
export async function docsPage(document: OpenApiDocument): Promise<Response> {
  const { info, servers, tags, paths, components } = document;
  const base = servers[0]?.url ?? "";
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const grouped = tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<style>${raw(style)}</style>
</head>
<body>
<h1>${info.title}</h1>
<p>${text(info.description)}</p>
<p>All paths below start with <code>${base}</code>. Requests need the header <code>Authorization: Bearer …</code> with the API key, except for endpoints marked as open. For programs, the same description is in <a href="${base}/openapi.json">openapi.json</a>.</p>
<pre>curl -H "Authorization: Bearer $AGENT_API_KEY" -H "Content-Type: application/json" \\
  -d '{"prompt": "Explain what this repository does"}' …${base}/agent/run</pre>
<nav>${grouped.map(
    ({ name, operations: of }) =>
      html`<h4>${name}</h4><ul>${of.map(
        ({ path, method, operation }) =>
          html`<li><a href="#${operation.operationId}"><code>${method} ${path}</code></a></li>`,
      )}</ul>`,
  )}<h4>Shapes</h4><ul>${Object.keys(components.schemas).map(
    (name) => html`<li><a href="#shape-${name}">${name}</a></li>`,
  )}</ul></nav>
${grouped.map(
  ({ name, operations: of }) =>
    html`<h2>${name}</h2>${of.map(({ path, method, operation }) => endpoint(path, method, operation))}`,
)}
<h2>Shapes</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<section id="shape-${name}"><h3>${name}</h3>${shape(schema)}</section>`,
)}
</body>
</html>`;
  return new Response(await page, { headers });
}

const endpoint = (path: string, method: string, operation: OpenApiOperation): Html => {
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation;
  return html`<article id="${operationId}">
<h3><code><b class="method">${method}</b> ${path}</code></h3>
<p>${summary}. ${text(description ?? "")}${security === undefined ? "" : " Open: needs no API key."}</p>
${
  parameters.length === 0
    ? ""
    : html`<h4>Parameters</h4><dl>${parameters.map(
        (each) =>
          html`<dt><code>${each.name}</code></dt><dd>${kind(each.schema)}${each.in === "path" ? " in the path" : ""}. ${text(each.description ?? "")}</dd>`,
      )}</dl>`
}
${requestBody === undefined ? "" : html`<h4>Body</h4>${shape(requestBody.content["application/json"].schema)}`}
<h4>Responses</h4>
<dl>${Object.entries(responses).map(
    ([status, { description: about, content }]) =>
      html`<dt><code>${status}</code></dt><dd>${text(about.replace(/\.$/, ""))}: ${Object.entries(
        content,
      ).map(
        ([media, { schema }]) =>
          html`${media === "application/json" ? "" : html`<code>${media}</code> `}${kind(schema)}`,
      )}</dd>`,
  )}</dl>
</article>`;
};

/** Renders backticks as code. */
const text = (words: string): Html[] =>
  words.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

/** Lists an object's members; for any other value, names its kind. */
function shape(schema: JsonSchema): Html {
  const { properties, required = [] } = schema;
  const about = html`<p>${text(schema.description ?? "")}</p>`;
  if (properties === undefined) return html`<p>${kind(schema)}</p>${about}`;
  return html`${about}<dl>${Object.entries(properties).map(([name, member]) => {
    const words = typeof member === "object" ? (member.description ?? "") : "";
    const always = required.includes(name) ? "" : html` <span class="quiet">optional</span>`;
    return html`<dt><code>${name}</code>${always}</dt><dd>${kind(member)}. ${text(words)}</dd>`;
  })}</dl>`;
}

/** Names the kind of a value; links to named shapes. */
function kind(schema: JsonSchema | boolean): Html {
  if (typeof schema === "boolean") return html`anything`;
  const { $ref, type, items, anyOf, format, default: usual, additionalProperties: each } = schema;
  if ($ref?.startsWith(schemasAt)) {
    const name = $ref.slice(schemasAt.length);
    return html`<a href="#shape-${name}">${name}</a>`;
  }
  if (anyOf !== undefined)
    return html`${anyOf.map((each, index) => html`${index > 0 ? " or " : ""}${kind(each)}`)}`;
  if (schema.enum !== undefined) return html`${schema.enum.join(" | ")}${suffix(usual)}`;
  if (type === "array") {
    return html`list of ${typeof items === "object" && !Array.isArray(items) ? kind(items) : "anything"}`;
  }
  if (type === "object" && typeof each === "object" && Object.keys(each).length > 0) {
    return html`map of name to ${kind(each)}`;
  }
  const name = (Array.isArray(type) ? type : [type ?? "anything"]).join(" or ");
  return html`${format === "date-time" ? "RFC 3339 time" : name}${bounds(schema)}${suffix(usual)}`;
}

const suffix = (usual: unknown): string =>
  usual === undefined || usual === "" ? "" : ` (default ${String(usual)})`;

function bounds({ minimum, maximum, maxLength }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  return maxLength === undefined ? "" : `, at most ${maxLength} characters`;
}
