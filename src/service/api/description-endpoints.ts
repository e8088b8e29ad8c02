import { docsPage } from "./docs-page.ts";
import type { Endpoint } from "./endpoint.ts";
import { type OpenApiDocument, openApiOf } from "./openapi.ts";

/** Adds the endpoints that describe the API, themselves included. */
export function withDescription(endpoints: readonly Endpoint[], basePath: string): readonly Endpoint[] {
  // Made once, because it takes 80 ms.
  let made: OpenApiDocument | null = null;
  const document = (): OpenApiDocument => {
    made ??= openApiOf(all, basePath);
    return made;
  };
  const about = { method: "GET", group: "This description", open: true, refusals: [] } as const;
  const all: readonly Endpoint[] = [
    ...endpoints,
    {
      ...about,
      id: "getOpenApi",
      path: "/openapi.json",
      summary: "Get this description as an OpenAPI document",
      answer: { media: "application/json", description: "OpenAPI 3.1" },
      handle: () => ({
        ok: true,
        value: Response.json(document(), { headers: { "cache-control": "no-cache" } }),
      }),
    },
    {
      ...about,
      id: "getDocs",
      path: "/docs",
      summary: "Get this description as a page",
      answer: { media: "text/html", description: "The page" },
      handle: async () => ({ ok: true, value: await docsPage(document()) }),
    },
  ];
  return all;
}
