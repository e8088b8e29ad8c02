import { followUpRequest } from "#agent-runs/schema.ts";
import { environmentsQuery, factoriesQuery, skillsQuery } from "#service/wire/catalog-queries.ts";
import { listParameters } from "#service/wire/list-query.ts";
import { described } from "#service/wire/query.ts";
import {
  cancelAnswer,
  conversationAnswer,
  createAnswer,
  environmentsAnswer,
  factoriesAnswer,
  factoryAnswer,
  factoryRequest,
  factoryRunAnswer,
  followUpAnswer,
  listAnswer,
  modelsAnswer,
  runAnswer,
  runRequest,
  skillsAnswer,
} from "#service/wire/wire-shapes.ts";
import type { Endpoint } from "./endpoint.ts";
import { cancelRefusals, sessionEndpoints } from "./session-endpoints.ts";

const create = {
  group: "Runs",
  body: runRequest,
  answer: createAnswer,
  refusals: ["invalid_request", "resource_unavailable"],
  handle: (operations, { request }) => operations.create(request),
} satisfies Partial<Endpoint>;

const inRuns = { method: "GET", group: "Runs" } as const;
const inCatalog = { method: "GET", group: "Catalog" } as const;
const inFactories = { method: "GET", group: "Factories" } as const;

/** The endpoints of the API, in the order of its description. */
export const endpoints: readonly Endpoint[] = [
  {
    ...create,
    id: "runAgent",
    method: "POST",
    path: "/agent/run",
    summary: "Create a run",
    description:
      "The run waits in the queue until a slot is free. A prompt is required unless a skill is given.",
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
    ...inRuns,
    id: "listRuns",
    path: "/agent/runs",
    summary: "List runs",
    description:
      "Filters are ANDed; several states are ORed. Unknown parameters and empty values are ignored. Runs that are added while you read do not shift or repeat runs on later pages.",
    query: listParameters,
    answer: listAnswer,
    refusals: ["invalid_request"],
    handle: (operations, { query }) => operations.list(query),
  },
  {
    ...inRuns,
    id: "getRun",
    path: "/agent/runs/{runId}",
    summary: "Fetch a run",
    answer: runAnswer,
    refusals: ["resource_not_found"],
    handle: (operations, { parameter }) => operations.fetch(parameter("runId")),
  },
  {
    ...inRuns,
    id: "getRunConversation",
    path: "/agent/runs/{runId}/conversation",
    summary: "Fetch a run's conversation",
    description:
      "Messages that wait for the agent come last. A queued run of a skill without a prompt has no conversation yet.",
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
      "A queued run gets it with its prompt, a running one after its turn. It continues a run that is blocked or has ended.",
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
      "Refused with `invalid_request` if the run has ended, with `conflict` while it is being prepared, and with `operation_not_supported` while it is waiting for an answer.",
    answer: cancelAnswer,
    refusals: cancelRefusals,
    handle: (operations, { parameter }) => operations.cancel(parameter("runId")),
  },
  {
    ...inCatalog,
    id: "listEnvironments",
    path: "/agent/environments",
    summary: "List environments",
    description:
      "A configuration's `environment_id` is one of these `uid`s. If none is declared, it can be anything.",
    query: described(environmentsQuery),
    answer: environmentsAnswer,
    refusals: ["invalid_request"],
    handle: (operations, { query }) => operations.environments(query),
  },
  {
    ...inCatalog,
    id: "listModels",
    path: "/agent/models",
    summary: "List models",
    description:
      "A configuration's `model_id` is one of these `id`s. If none is declared, it can be anything.",
    answer: modelsAnswer,
    refusals: [],
    handle: (operations) => operations.models(),
  },
  {
    ...inCatalog,
    id: "listSkills",
    path: "/agent",
    summary: "List skills",
    description: "A request's `skill` is the `id` of a variant.",
    query: described(skillsQuery),
    answer: skillsAnswer,
    refusals: ["invalid_request"],
    handle: (operations, { query }) => operations.skills(query),
  },
  {
    ...inFactories,
    id: "listFactories",
    path: "/factory",
    summary: "List factories",
    query: described(factoriesQuery),
    answer: factoriesAnswer,
    refusals: ["invalid_request"],
    handle: (operations, { query }) => operations.factories(query),
  },
  {
    ...inFactories,
    id: "getFactory",
    path: "/factory/{uid}",
    summary: "Fetch a factory",
    answer: factoryAnswer,
    refusals: ["resource_not_found"],
    handle: (operations, { parameter }) => operations.factory(parameter("uid")),
  },
  {
    id: "runFactory",
    method: "POST",
    path: "/factory/{uid}/runs",
    group: "Factories",
    summary: "Send a prompt to a factory",
    description:
      "Creates an ordinary run with the factory's base prompt, environment, model, skill and command. A ticket becomes metadata of the run.",
    body: factoryRequest,
    answer: factoryRunAnswer,
    refusals: ["invalid_request", "resource_not_found", "resource_unavailable"],
    handle: (operations, { parameter, request }) => operations.dispatch(parameter("uid"), request),
  },
  ...sessionEndpoints,
];
