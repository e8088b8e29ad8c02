import { followUpRequest, type ListResponse, type RunItem } from "#agent-runs/schema.ts";
import { answerOf } from "#service/agents/agent.ts";
import type { Catalog } from "#service/catalog.ts";
import type { Attachments } from "#service/files/attachments.ts";
import type { RepositorySkills } from "#service/files/repository-skills.ts";
import type { Run } from "#service/run/run-document.ts";
import { type Cancelling, followedUp } from "#service/run/run-life.ts";
import type { Sessions } from "#service/sessions/sessions.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { conversationOf, isSilent, runItemOf } from "#service/store/run-wire.ts";
import type { Executor } from "#service/turns/executor.ts";
import { listFilterOf } from "#service/wire/list-query.ts";
import { missing, type Refusal, type Result, refused } from "#service/wire/problem.ts";
import { mostBodyBytes, readBody } from "#service/wire/request-body.ts";
import { type RunRequest, runRequest } from "#service/wire/wire-shapes.ts";
import { type Beginning, createCatalogOperations } from "./catalog-operations.ts";
import { createRunCreator } from "./create-run.ts";
import { jsonAnswer, type Operations } from "./endpoint.ts";

export interface OperationOptions {
  readonly runs: RunStore;
  readonly executor: Executor;
  readonly catalog: Catalog;
  readonly attachments: Attachments;
  readonly foundSkills: RepositorySkills;
  readonly sessions: Sessions;
  /** The next place in the order of creation and in the queue. */
  readonly nextPlace: () => number;
  readonly now: () => number;
}

/** What the API's endpoints do. A store that fails rejects; every expected outcome is a value. */
export function createOperations(options: OperationOptions): Operations {
  const { runs, executor, catalog, foundSkills, nextPlace, sessions, now } = options;
  const createRun = createRunCreator(options);

  const unknownRun = (runId: string) => missing("run", runId);
  const itemOf = (run: Run): RunItem => runItemOf(run, sessions.link(run));
  const liveText = (runId: string): string | null => {
    const output = executor.live(runId);
    return output === null ? null : answerOf(output).text;
  };

  /** Makes the run and has it executed. */
  async function begin(request: RunRequest, factoryUid: string | null): Promise<Result<Beginning>> {
    const room = executor.reserve();
    if (room === null) return { ok: false, refusal: fullQueue };
    const made = await createRun(request, factoryUid).finally(() => room.release());
    if (!made.ok) return made;
    const { id, state } = made.value;
    const begun = { run_id: id, task_id: id, state, at_capacity: executor.atCapacity() };
    executor.enqueue(id);
    return { ok: true, value: { begun, link: sessions.link(made.value) } };
  }

  return {
    ...createCatalogOperations({ catalog, runs, foundSkills, begin }),

    async create(request) {
      const body = await readBody(request, runRequest, mostBodyBytes);
      if (!body.ok) return body;
      const made = await begin(body.value, null);
      return made.ok ? { ok: true, value: made.value.begun } : made;
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
      const answer = runs.answer(runId, sessions.link);
      return answer === null ? unknownRun(runId) : new Response(answer, jsonAnswer);
    },

    async conversation(runId) {
      const document = await runs.read(runId);
      if (document === null) return unknownRun(runId);
      const live = liveText(runId);
      if (isSilent(document, live)) {
        return refused("resource_not_found", "Nothing was said in this run yet.");
      }
      return { ok: true, value: conversationOf(document, live) };
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

    sessions,
  };
}

/** A run takes minutes: asking again at once would not help. */
const fullQueue: Refusal = {
  code: "resource_unavailable",
  detail: "As many runs wait as this service lets wait. Try again later.",
  status: 429,
  headers: { "retry-after": "30" },
};

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
