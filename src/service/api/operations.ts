import { followUpRequest, type ListResponse, type RunItem } from "#agent-runs/schema.ts";
import { answerOf } from "#service/agents/agent.ts";
import type { Run } from "#service/run/run-document.ts";
import { type Cancelling, followedUp } from "#service/run/run-life.ts";
import { isFile } from "#service/sessions/session-file.ts";
import { type Sessions, transcript } from "#service/sessions/sessions.ts";
import { artifactAnswerOf, conversationOf, isEnded, isSilent, runItemOf } from "#service/store/run-wire.ts";
import type { Executor } from "#service/turns/executor.ts";
import { listFilterOf } from "#service/wire/list-query.ts";
import { missing, type Refused, type Result, refused } from "#service/wire/problem.ts";
import { readBody } from "#service/wire/request-body.ts";
import { type RunRequest, runRequest } from "#service/wire/wire-shapes.ts";
import { type Begun, createCatalogOperations } from "./catalog-operations.ts";
import { type CreateRunOptions, createRun, noSuchRun } from "./create-run.ts";

/** The parts of the service behind the operations. */
export interface OperationOptions extends CreateRunOptions {
  readonly executor: Executor;
  readonly sessions: Sessions;
  /** When the declaration of the environment with this id last changed, in milliseconds since the epoch. */
  readonly changedAt: (environmentId: string) => number;
}

/**
 * The operations behind the endpoints. Each resolves with the body of a 200, with a whole response, or with a
 * refusal; it rejects if the store fails.
 */
export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationOptions) {
  const { runs, executor, catalog, skills, changedAt, nextPlace, sessions, now } = options;

  const unknownRun = (runId: string): Refused => missing("run", runId);
  const itemOf = (run: Run): RunItem => runItemOf(run, sessions.link(run));
  const liveText = (runId: string): string | null => {
    const output = executor.live(runId);
    return output === null ? null : answerOf(output).text;
  };

  async function conversation(runId: string): Promise<Result<unknown>> {
    const document = await runs.read(runId);
    if (document === null) return unknownRun(runId);
    const live = liveText(runId);
    return isSilent(document, live)
      ? refused("resource_not_found", "Nothing has been said in this run yet.")
      : { ok: true, value: conversationOf(document, live) };
  }

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
    ...createCatalogOperations({ catalog, runs, skills, changedAt, begin }),

    async create(request: Request): Promise<Result<unknown>> {
      const body = await readBody(request, runRequest);
      if (!body.ok) return body;
      const begun = await begin(body.value, null);
      return begun.ok ? { ok: true, value: begun.value.answer } : begun;
    },

    async list(parameters: URLSearchParams): Promise<Result<ListResponse>> {
      const filter = listFilterOf(parameters);
      if (!filter.ok) return filter;
      const { ancestor_run_id: ancestor } = filter.value;
      if (ancestor !== undefined && runs.get(ancestor) === null)
        return noSuchRun("ancestor_run_id", ancestor);
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

    conversation,

    /** Redirects to the transcript's own address, which holds for a while and needs no API key. */
    async transcript(runId: string): Promise<Result<unknown>> {
      const found = await conversation(runId);
      const run = runs.get(runId);
      if (!found.ok || run === null) return found;
      // Relative to the request's own address, because a caller may not reach the public one.
      const location = `../../../sessions/${run.id}/transcript?key=${sessions.download(run, transcript).key}`;
      const headers = { location, "cache-control": "no-store" };
      return { ok: true, value: new Response(null, { status: 302, headers }) };
    },

    /** The whole conversation, as its latest run has it. */
    async conversationById(id: string): Promise<Result<unknown>> {
      const latest = runs.latestOf(id);
      return latest === null ? missing("conversation", id) : conversation(latest);
    },

    /** The conversation of a session whose run has ended; {} for any other session, also an unknown one. */
    sessionRedirect(sessionId: string): Result<unknown> {
      const run = runs.get(sessionId);
      const over = run !== null && isEnded(run.state);
      return { ok: true, value: over ? { conversation_id: run.conversationId } : {} };
    },

    /** The session of a conversation whose latest run has not ended; {} for any other one, also an unknown one. */
    conversationRedirect(id: string): Result<unknown> {
      const latest = runs.latestOf(id);
      const run = latest === null ? null : runs.get(latest);
      return { ok: true, value: run === null || isEnded(run.state) ? {} : { session_id: run.id } };
    },

    /** One file of any run, with an address to download it from. */
    async artifact(uid: string): Promise<Result<unknown>> {
      const runId = runs.withArtifact(uid);
      const run = runId === null ? null : runs.get(runId);
      const found = run?.artifacts.find((each) => each.kind === "file" && each.uid === uid);
      if (!run || found?.kind !== "file" || !(await isFile(found.path))) return missing("artifact", uid);
      return { ok: true, value: artifactAnswerOf(found, run.id, sessions.fileLink(run, uid)) };
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
      return refused("invalid_request", "The run is waiting for an answer and can't be cancelled.");
    default:
      return kind satisfies never;
  }
}
