import { docsPage } from "./docs-page.ts";
import type { Endpoint } from "./endpoint.ts";
import { type OpenApiDocument, openApiOf } from "./openapi.ts";

/** The endpoints, and those that describe all of them, themselves included. */
export function withDescription(endpoints: readonly Endpoint[], basePath: string): readonly Endpoint[] {
  let made: OpenApiDocument | null = null;
  const document = (): OpenApiDocument => {
    made ??= openApiOf(all, basePath);
    return made;
  };
  const all: readonly Endpoint[] = [
    ...endpoints,
    {
      id: "getOpenApi",
      method: "GET",
      path: "/openapi.json",
      group: "This description",
      summary: "This description for programs, an OpenAPI document",
      open: true,
      answer: { media: "application/json", what: "OpenAPI 3.1" },
      refusals: [],
      handle: () => Response.json(document(), { headers: { "cache-control": "no-cache" } }),
    },
    {
      id: "getDocs",
      method: "GET",
      path: "/docs",
      group: "This description",
      summary: "This description for people",
      open: true,
      answer: { media: "text/html", what: "The page" },
      refusals: [],
      handle: () => docsPage(document()),
    },
  ];
  return all;
}
