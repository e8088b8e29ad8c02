import { sameSecret } from "./bearer.ts";
import type { Endpoint } from "./endpoint.ts";
import { refused } from "./problem.ts";
import { sessionPageHeaders } from "./session-page.ts";

/** What people open from a chat: without the API key, with the key of the one run in the address. */
export const sessionEndpoints: readonly Endpoint[] = [
  {
    id: "getSession",
    method: "GET",
    path: "/sessions/{runId}",
    group: "Sessions",
    summary: "A run's page, for people",
    description: "The address of the page, its key included, is the run's `session_link`.",
    open: true,
    answer: { media: "text/html", what: "The page" },
    refusals: ["resource_not_found"],
    async handle(operations, { parameter, query }) {
      const key = query.get("key") ?? "";
      const page = await operations.sessionPage(parameter("runId"), (sessionKey) =>
        sameSecret(key, sessionKey),
      );
      if (page === null) return refused("resource_not_found", "There is no such session.");
      return new Response(page, { headers: sessionPageHeaders });
    },
  },
];
