import { z } from "zod";
import { followUpRequest } from "#agent-runs/schema.ts";
import { unknownSession } from "#service/sessions/sessions.ts";
import { refused } from "#service/wire/problem.ts";
import { cancelAnswer, followUpAnswer } from "#service/wire/wire-shapes.ts";
import type { Asked, Endpoint, Operations, Outcome } from "./endpoint.ts";

const keyHeader = "x-session-key";

/** A key in the address opens what can be read only: addresses are written down and passed on. */
const keyOf = ({ request, query }: Asked): string => request.headers.get(keyHeader) ?? query.get("key") ?? "";

/**
 * Only with the key in a header, which no form and no other site's page can set: what a browser does by
 * itself steers nothing.
 */
async function steering(
  { sessions }: Operations,
  { request, parameter }: Asked,
  steer: (runId: string) => Promise<Outcome>,
): Promise<Outcome> {
  const runId = parameter("runId");
  const right = sessions.right(runId, request.headers.get(keyHeader) ?? "");
  switch (right) {
    case "none":
      return unknownSession;
    case "read":
      return refused(
        "not_authorized",
        "This link is for reading: it can neither send follow-ups nor cancel.",
      );
    case "steer":
      return steer(runId);
    default:
      return right satisfies never;
  }
}

const query = { key: { schema: z.string(), description: "The link's key." } };
const keyInQuery = "With the link's key as the parameter `key`, or in the header `X-Session-Key`.";
const keyInHeader =
  "With the link's key in the header `X-Session-Key`. Only where session links may steer; otherwise refused with `not_authorized`.";

/** What people open from a chat: without the API key, with a key of the one run in the address. */
export const sessionEndpoints: readonly Endpoint[] = [
  {
    id: "getSession",
    method: "GET",
    path: "/sessions/{runId}",
    group: "Sessions",
    summary: "A run's page, for people",
    description: `The address of the page, its key included, is the run's \`session_link\`. ${keyInQuery}`,
    query,
    open: true,
    answer: { media: "text/html", what: "The page" },
    refusals: ["resource_not_found"],
    async handle({ sessions }, asked) {
      const runId = asked.parameter("runId");
      const right = sessions.right(runId, keyOf(asked));
      if (right === "none") return unknownSession;
      const page = await sessions.page(runId, right);
      return page.ok ? page.value : page;
    },
  },
  {
    id: "followSession",
    method: "GET",
    path: "/sessions/{runId}/events",
    group: "Sessions",
    summary: "What changes in a run, as it does",
    description: `Server-sent events for the run's page. ${keyInQuery} Whoever sends the last event's id as \`Last-Event-ID\` is sent what came after it.`,
    query,
    open: true,
    answer: { media: "text/event-stream", what: "An event for each change" },
    refusals: ["resource_not_found", "resource_unavailable"],
    handle({ sessions }, asked) {
      const { headers, method } = asked.request;
      const runId = asked.parameter("runId");
      if (sessions.right(runId, keyOf(asked)) === "none") return unknownSession;
      const stream = sessions.events(runId, headers.get("last-event-id") ?? "", method);
      return stream.ok ? stream.value : stream;
    },
  },
  {
    id: "getSessionFile",
    method: "GET",
    path: "/sessions/{runId}/artifacts/{uid}",
    group: "Sessions",
    summary: "A file that a run has left",
    description: `To be saved. The identifier is the \`artifact_uid\` of one of the run's artifacts. ${keyInQuery}`,
    query,
    open: true,
    answer: { media: "application/octet-stream", what: "The file" },
    refusals: ["resource_not_found"],
    async handle({ sessions }, asked) {
      const runId = asked.parameter("runId");
      if (sessions.right(runId, keyOf(asked)) === "none") return unknownSession;
      const file = await sessions.file(runId, asked.parameter("uid"), asked.request.method);
      return file.ok ? file.value : file;
    },
  },
  {
    id: "followUpSession",
    method: "POST",
    path: "/sessions/{runId}/followups",
    group: "Sessions",
    summary: "Send a follow-up from the run's page",
    description: `The same as \`POST /agent/runs/{runId}/followups\`. ${keyInHeader}`,
    open: true,
    body: followUpRequest,
    answer: followUpAnswer,
    refusals: ["invalid_request", "not_authorized", "resource_not_found"],
    handle: (operations, asked) =>
      steering(operations, asked, (runId) => operations.followUp(runId, asked.request)),
  },
  {
    id: "cancelSession",
    method: "POST",
    path: "/sessions/{runId}/cancel",
    group: "Sessions",
    summary: "Cancel a run from its page",
    description: `The same as \`POST /agent/runs/{runId}/cancel\`. ${keyInHeader}`,
    open: true,
    answer: cancelAnswer,
    refusals: [
      "invalid_request",
      "not_authorized",
      "resource_not_found",
      "conflict",
      "operation_not_supported",
    ],
    handle: (operations, asked) => steering(operations, asked, (runId) => operations.cancel(runId)),
  },
];
