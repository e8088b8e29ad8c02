import { randomBytes, randomUUID } from "node:crypto";
import {
  type CreateRequest,
  type CreateResponse,
  createRequest,
  followUpRequest,
  type ListResponse,
  type RunItem,
} from "../agent-runs/schema.ts";
import { answerOf } from "./agent.ts";
import type { Catalog } from "./catalog.ts";
import type { Operations } from "./endpoint.ts";
import type { Executor } from "./executor.ts";
import { listFilterOf } from "./list-query.ts";
import { newRun } from "./new-run.ts";
import { type Result, refused } from "./problem.ts";
import { readBody } from "./request-body.ts";
import type { Run, Utterance } from "./run-document.ts";
import { type Cancelling, followedUp } from "./run-life.ts";
import type { RunStore } from "./run-store.ts";
import { conversationOf, runItemOf } from "./run-wire.ts";
import { sessionPage } from "./session-page.ts";

export interface OperationOptions {
  readonly runs: RunStore;
  readonly executor: Executor;
  readonly catalog: Catalog;
  /** What a session link's key opens. */
  readonly sessionLinks: "read" | "steer";
  /** The next place in the order of creation and in the queue. */
  readonly nextPlace: () => number;
  /** Address of the run's page. */
  readonly sessionLink: (run: Run) => string;
  readonly now: () => number;
}

/** Room for any prompt that makes sense. */
const mostBodyBytes = 10_000_000;

/** What the API's endpoints do. A store that fails rejects; every expected outcome is a value. */
export function createOperations(options: OperationOptions): Operations {
  const { runs, executor, nextPlace, sessionLink, now } = options;

  const unknownRun = (runId: string) => refused("resource_not_found", `There is no run ${runId}.`);
  const itemOf = (run: Run): RunItem => runItemOf(run, sessionLink(run));
  const liveText = (runId: string): string | null => {
    const output = executor.live(runId);
    return output === null ? null : answerOf(output).text;
  };

  return {
    async create(request) {
      const body = await readBody(request, createRequest, mostBodyBytes);
      if (!body.ok) return body;
      const wanted = body.value;
      const lack = lacking(wanted);
      if (lack !== null) return lack;
      const earlier = await earlierConversation(runs, wanted.conversation_id);
      if (earlier === null) {
        return refused("invalid_request", "conversation_id: there is no such conversation");
      }
      const order = nextPlace();
      const sessionKey = randomBytes(24).toString("base64url");
      const document = newRun(wanted, { id: randomUUID(), order, now: now(), sessionKey, earlier });
      const { id, state } = document.run;
      await runs.add(document);
      const response: CreateResponse = {
        run_id: id,
        task_id: id,
        state,
        at_capacity: executor.atCapacity(),
      };
      executor.enqueue(id);
      return { ok: true, value: response };
    },

    async list(parameters) {
      const filter = listFilterOf(parameters);
      if (!filter.ok) return filter;
      const page = await runs.list(filter.value);
      if (!page.ok) return page;
      const { nextCursor } = page.value;
      const value: ListResponse = {
        runs: page.value.runs.map(itemOf),
        page_info: {
          has_next_page: nextCursor !== null,
          ...(nextCursor === null ? {} : { next_cursor: nextCursor }),
        },
      };
      return { ok: true, value };
    },

    fetch(runId) {
      const run = runs.get(runId);
      return run === null ? unknownRun(runId) : { ok: true, value: itemOf(run) };
    },

    async conversation(runId) {
      const document = await runs.read(runId);
      if (document === null) return unknownRun(runId);
      return { ok: true, value: conversationOf(document, liveText(runId)) };
    },

    async followUp(runId, request) {
      if (runs.get(runId) === null) return unknownRun(runId);
      const body = await readBody(request, followUpRequest, mostBodyBytes);
      if (!body.ok) return body;
      const { message } = body.value;
      if (message.trim() === "") return refused("invalid_request", "message: it is empty");
      const change = await runs.change(runId, (before) => {
        const document = followedUp(before, message, now(), nextPlace);
        return { document, result: document.run.state === "QUEUED" && before.run.state !== "QUEUED" };
      });
      if (change?.result) executor.enqueue(runId);
      return { ok: true, value: {} };
    },

    async cancel(runId) {
      const kind = await executor.cancel(runId);
      return kind === null ? unknownRun(runId) : cancelAnswer(kind, runId);
    },

    async sessionPage(runId, opens) {
      const run = runs.get(runId);
      if (run === null || !opens(run.sessionKey)) return null;
      const document = await runs.read(runId);
      return document === null ? null : sessionPage(document, liveText(runId));
    },
  };
}

/** What the schema can't say of the request; null if nothing is missing. */
function lacking(request: CreateRequest): Result<never> | null {
  const skill = request.skill || request.config?.skill_spec;
  if (!request.prompt?.trim() && !skill) {
    return refused("invalid_request", "prompt: it is required unless a skill is given");
  }
  if (request.attachments !== undefined && request.attachments.length > 0) {
    return refused("feature_not_available", "attachments: this service does not take them");
  }
  return null;
}

/** What was said so far in the conversation that a new run continues; null if there is no such one. */
async function earlierConversation(
  runs: RunStore,
  conversationId: string | undefined,
): Promise<readonly Utterance[] | null> {
  if (conversationId === undefined) return [];
  const latest = runs.latestOf(conversationId);
  return latest === null ? null : ((await runs.read(latest))?.said ?? null);
}

function cancelAnswer(kind: Cancelling["kind"], runId: string): Result<string> {
  switch (kind) {
    case "cancelled":
      return { ok: true, value: runId };
    case "ended":
      return refused("invalid_request", "The run has ended already.");
    case "preparing":
      return refused("conflict", "The run is being prepared; cancel it in a moment.");
    case "blocked":
      return refused("operation_not_supported", "The run waits for an answer and can't be cancelled.");
    default:
      return kind satisfies never;
  }
}
