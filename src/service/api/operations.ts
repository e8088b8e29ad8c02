import { followUpRequest, type ListResponse, type RunItem } from "#agent-runs/schema.ts";
import { answerOf } from "#service/agents/agent.ts";
import type { RepositorySkills } from "#service/files/repository-skills.ts";
import type { Run } from "#service/run/run-document.ts";
import { type Cancelling, followedUp } from "#service/run/run-life.ts";
import type { Sessions } from "#service/sessions/sessions.ts";
import { conversationOf, isSilent, runItemOf } from "#service/store/run-wire.ts";
import type { Executor } from "#service/turns/executor.ts";
import { listFilterOf } from "#service/wire/list-query.ts";
import { missing, type Refused, type Result, refused } from "#service/wire/problem.ts";
import { readBody } from "#service/wire/request-body.ts";
import { type RunRequest, runRequest } from "#service/wire/wire-shapes.ts";
import { type Begun, createCatalogOperations } from "./catalog-operations.ts";
import { type CreateRunOptions, createRun } from "./create-run.ts";

/** The parts of the service behind the operations. */
export interface OperationOptions extends CreateRunOptions {
  readonly executor: Executor;
  readonly skills: RepositorySkills;
  readonly sessions: Sessions;
}

/**
 * The operations behind the endpoints. Each resolves with the body of a 200, with a whole response, or with a
 * refusal; it rejects if the store fails.
 */
export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationOptions) {
  const { runs, executor, catalog, skills, nextPlace, sessions, now } = options;

  const unknownRun = (runId: string): Refused => missing("run", runId);
  const itemOf = (run: Run): RunItem => runItemOf(run, sessions.link(run));
  const liveText = (runId: string): string | null => {
    const output = executor.live(runId);
    return output === null ? null : answerOf(output).text;
  };

  async function begin(request: RunRequest, factoryUid: string | null): Promise<Result<Begun>> {
    const room = executor.reserve();
    if (room === null) return fullQueue;
    const created = await createRun(options, request, factoryUid).finally(() => room.release());
    if (!created.ok) return created;
    const { id, state } = created.value;
    const answer = { run_id: id, task_id: id, state, at_capacity: executor.atCapacity() };
    executor.enqueue(id);
    return { ok: true, value: { answer, link: sessions.link(created.value) } };
  }

  return {
    ...createCatalogOperations({ catalog, runs, skills, begin }),

    async create(request: Request): Promise<Result<unknown>> {
      const body = await readBody(request, runRequest);
      if (!body.ok) return body;
      const begun = await begin(body.value, null);
      return begun.ok ? { ok: true, value: begun.value.answer } : begun;
    },

    async list(parameters: URLSearchParams): Promise<Result<ListResponse>> {
      const filter = listFilterOf(parameters);
      if (!filter.ok) return filter;
      const page = await runs.list(filter.value);
      if (!page.ok) return page;
      const { nextCursor } = page.value;
      const next = nextCursor === null ? {} : { next_cursor: nextCursor };
      const page_info = { has_next_page: nextCursor !== null, ...next };
      return { ok: true, value: { runs: page.value.runs.map(itemOf), page_info } };
    },

    fetch(runId: string): Result<RunItem> {
      const run = runs.get(runId);
      return run === null ? unknownRun(runId) : { ok: true, value: itemOf(run) };
    },

    async conversation(runId: string): Promise<Result<unknown>> {
      const document = await runs.read(runId);
      if (document === null) return unknownRun(runId);
      const live = liveText(runId);
      return isSilent(document, live)
        ? refused("resource_not_found", "Nothing has been said in this run yet.")
        : { ok: true, value: conversationOf(document, live) };
    },

    async followUp(runId: string, request: Request): Promise<Result<unknown>> {
      if (runs.get(runId) === null) return unknownRun(runId);
      const body = await readBody(request, followUpRequest);
      if (!body.ok) return body;
      const { message } = body.value;
      if (message.trim() === "") return refused("invalid_request", "message: it is empty");
      const change = await runs.change(runId, (before) => {
        const document = followedUp(before, message, now(), nextPlace);
        return { document, result: document.run.state === "QUEUED" && before.run.state !== "QUEUED" };
      });
      if (change === null) return unknownRun(runId);
      if (change.result) executor.enqueue(runId);
      return { ok: true, value: {} };
    },

    async cancel(runId: string): Promise<Result<unknown>> {
      const kind = await executor.cancel(runId);
      return kind === null ? unknownRun(runId) : cancelAnswer(kind, runId);
    },

    sessions,
  };
}

/** Runs take minutes, so the queue does not empty within seconds. */
const fullQueue = refused("resource_unavailable", "The queue is full. Try again later.", {
  status: 429,
  headers: { "retry-after": "30" },
});

function cancelAnswer(kind: Cancelling["kind"], runId: string): Result<string> {
  switch (kind) {
    case "cancelled":
      return { ok: true, value: runId };
    case "ended":
      return refused("invalid_request", "The run has already ended.");
    case "preparing":
      return refused("conflict", "The run is being prepared. Cancel it in a moment.");
    case "blocked":
      return refused("operation_not_supported", "The run is waiting for an answer and can't be cancelled.");
    default:
      return kind satisfies never;
  }
}
