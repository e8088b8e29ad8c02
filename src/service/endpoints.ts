import { createRequest, followUpRequest } from "../agent-runs/schema.ts";
import {
  cancelAnswer,
  conversationAnswer,
  createAnswer,
  followUpAnswer,
  listAnswer,
  runAnswer,
} from "./answers.ts";
import type { Endpoint } from "./endpoint.ts";
import { listParameters } from "./list-query.ts";
import { sessionEndpoints } from "./session-endpoints.ts";

const create = {
  group: "Runs",
  body: createRequest,
  answer: createAnswer,
  refusals: ["invalid_request", "feature_not_available"],
  handle: (operations, { request }) => operations.create(request),
} satisfies Partial<Endpoint>;

/** Everything that the service answers. */
export const endpoints: readonly Endpoint[] = [
  {
    ...create,
    id: "runAgent",
    method: "POST",
    path: "/agent/run",
    summary: "Create a run",
    description:
      "The run waits in the queue until there is room for it. A prompt is required unless a skill is given.",
  },
  {
    ...create,
    id: "createRun",
    method: "POST",
    path: "/agent/runs",
    summary: "Create a run",
    description: "The same as `POST /agent/run`.",
  },
  {
    id: "listRuns",
    method: "GET",
    path: "/agent/runs",
    group: "Runs",
    summary: "List runs",
    description:
      "Filters are ANDed, the states of one list ORed. Unknown parameters are ignored, and so are empty values. Runs that are added meanwhile neither shift nor repeat what is on later pages.",
    query: listParameters,
    answer: listAnswer,
    refusals: ["invalid_request"],
    handle: (operations, { query }) => operations.list(query),
  },
  {
    id: "getRun",
    method: "GET",
    path: "/agent/runs/{runId}",
    group: "Runs",
    summary: "Fetch a run",
    answer: runAnswer,
    refusals: ["resource_not_found"],
    handle: (operations, { parameter }) => operations.fetch(parameter("runId")),
  },
  {
    id: "getRunConversation",
    method: "GET",
    path: "/agent/runs/{runId}/conversation",
    group: "Runs",
    summary: "Fetch a run's conversation",
    answer: conversationAnswer,
    refusals: ["resource_not_found"],
    handle: (operations, { parameter }) => operations.conversation(parameter("runId")),
  },
  {
    id: "followUpRun",
    method: "POST",
    path: "/agent/runs/{runId}/followups",
    group: "Runs",
    summary: "Send a follow-up",
    description:
      "A queued run is given it with its prompt, a running one after its turn. A run that is blocked or has ended goes on with it.",
    body: followUpRequest,
    answer: followUpAnswer,
    refusals: ["invalid_request", "resource_not_found"],
    handle: (operations, { parameter, request }) => operations.followUp(parameter("runId"), request),
  },
  {
    id: "cancelRun",
    method: "POST",
    path: "/agent/runs/{runId}/cancel",
    group: "Runs",
    summary: "Cancel a run",
    description:
      "Refused with `invalid_request` if the run has ended, with `conflict` while it is being prepared, and with `operation_not_supported` while it waits for an answer.",
    answer: cancelAnswer,
    refusals: ["invalid_request", "resource_not_found", "conflict", "operation_not_supported"],
    handle: (operations, { parameter }) => operations.cancel(parameter("runId")),
  },
  ...sessionEndpoints,
];
