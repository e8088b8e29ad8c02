import { z } from "zod";
import { followUpRequest } from "#agent-runs/schema.ts";
import type { SessionLinks } from "#service/sessions/session-keys.ts";
import { transcript, unknownSession } from "#service/sessions/sessions.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { cancelAnswer, conversationAnswer, followUpAnswer } from "#service/wire/wire-shapes.ts";
import type { Asked, Endpoint } from "./endpoint.ts";
import type { Operations } from "./operations.ts";

type Handle = (
  operations: Operations,
  asked: Asked,
  runId: string,
  right: SessionLinks,
) => Result<unknown> | Promise<Result<unknown>>;

/** The refusals of a cancellation. */
export const cancelRefusals = ["invalid_request", "resource_not_found", "conflict"] as const;

const keyHeader = "x-session-key";

/**
 * Takes the key from the header or from the URL. `what`: the name of the download that may also be opened with a key
 * of its own.
 */
const reading =
  (handle: Handle, what?: (asked: Asked) => string): Endpoint["handle"] =>
  (operations, asked) => {
    const { sessions } = operations;
    const runId = asked.parameter("runId");
    const key = asked.request.headers.get(keyHeader) ?? asked.query.get("key") ?? "";
    const opened = what !== undefined && sessions.opens(runId, key, what(asked));
    const right = opened ? "read" : sessions.right(runId, key);
    return right === "none" ? unknownSession : handle(operations, asked, runId, right);
  };

/** Takes the key from the header only, which other sites' pages and forms can't set (cross-site request forgery). */
const steering = (handle: Handle): Endpoint["handle"] =>
  reading((operations, asked, runId, right) => {
    if (!asked.request.headers.has(keyHeader)) return unknownSession;
    return right === "read" ? readOnly : handle(operations, asked, runId, right);
  });

const readOnly = refused(
  "not_authorized",
  "This link is read-only: it can neither send follow-ups nor cancel the run.",
);

const query = { key: { schema: z.string(), description: "The link's key." } };
const keyInQuery = "Takes the link's key as the parameter `key` or in the header `X-Session-Key`.";
const keyInHeader =
  "Takes the link's key in the header `X-Session-Key`. Refused with `not_authorized` unless session links may steer.";

const readable = { method: "GET", group: "Sessions", query, open: true } as const;
const steerable = { method: "POST", group: "Sessions", open: true } as const;

/** The endpoints behind session links: they need no API key, but the key of the one run. */
export const sessionEndpoints: readonly Endpoint[] = [
  {
    ...readable,
    id: "getSession",
    path: "/sessions/{runId}",
    summary: "Open a run's page",
    description: `The run's \`session_link\` is the page's address with its key. ${keyInQuery}`,
    answer: { media: "text/html", description: "The page" },
    refusals: ["resource_not_found"],
    handle: reading(({ sessions }, _, runId, right) => sessions.page(runId, right)),
  },
  {
    ...readable,
    id: "followSession",
    path: "/sessions/{runId}/events",
    summary: "Follow a run's changes",
    description: `Server-sent events for the run's page. ${keyInQuery} With \`Last-Event-ID\` the stream starts after that event.`,
    answer: { media: "text/event-stream", description: "An event for each change" },
    refusals: ["resource_not_found", "resource_unavailable"],
    handle: reading(({ sessions }, { request: { headers, method } }, runId) =>
      sessions.events(runId, headers.get("last-event-id") ?? "", method),
    ),
  },
  {
    ...readable,
    id: "getSessionFile",
    path: "/sessions/{runId}/artifacts/{uid}",
    summary: "Download a file of a run",
    description: `The uid is the \`artifact_uid\` of one of the run's artifacts; \`GET /agent/artifacts/{uid}\` tells the address with a key of its own. ${keyInQuery}`,
    answer: { media: "application/octet-stream", description: "The file" },
    refusals: ["resource_not_found"],
    handle: reading(
      ({ sessions }, { parameter, request }, runId) => sessions.file(runId, parameter("uid"), request.method),
      ({ parameter }) => parameter("uid"),
    ),
  },
  {
    ...readable,
    id: "getSessionTranscript",
    path: "/sessions/{runId}/transcript",
    summary: "Download a run's transcript",
    description: `\`GET /agent/runs/{runId}/transcript\` redirects to it. ${keyInQuery}`,
    answer: conversationAnswer,
    refusals: ["resource_not_found"],
    handle: reading(
      (operations, _, runId) => operations.conversation(runId),
      () => transcript,
    ),
  },
  {
    ...steerable,
    id: "followUpSession",
    path: "/sessions/{runId}/followups",
    summary: "Send a follow-up from the run's page",
    description: `The same as \`POST /agent/runs/{runId}/followups\`. ${keyInHeader}`,
    body: followUpRequest,
    answer: followUpAnswer,
    refusals: ["invalid_request", "not_authorized", "resource_not_found"],
    handle: steering((operations, { request }, runId) => operations.followUp(runId, request)),
  },
  {
    ...steerable,
    id: "cancelSession",
    path: "/sessions/{runId}/cancel",
    summary: "Cancel a run from its page",
    description: `The same as \`POST /agent/runs/{runId}/cancel\`. ${keyInHeader}`,
    answer: cancelAnswer,
    refusals: ["not_authorized", ...cancelRefusals],
    handle: steering((operations, _, runId) => operations.cancel(runId)),
  },
];
