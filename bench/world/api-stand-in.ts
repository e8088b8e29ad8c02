/** A cheap Agent Runs API in memory that counts its requests and changes runs on request. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { createRequest } from "#agent-runs/schema.ts";

export const apiPath = "/api/v1";
/** The path prefix of the bench's own requests. */
export const controlPath = "/bench";

/** The time from a run's creation until the agent starts. */
const beginsAfterMs = 1_000;

interface StoredRun {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  state: string;
  updatedAt: number;
}

const addition = z.object({
  name: z.string(),
  /** `at`: milliseconds since the epoch. */
  runs: z.array(z.object({ id: z.string(), at: z.number() })).readonly(),
});
const turn = z.object({ count: z.number(), at: z.number() });
export type Addition = z.infer<typeof addition>;
export type Turn = z.infer<typeof turn>;
/** Requests since the last count. */
export const requestCounts = z.object({ lists: z.number(), fetches: z.number(), others: z.number() });
export type RequestCounts = z.infer<typeof requestCounts>;

/** Created runs; `at` in milliseconds since the epoch. */
export const creates = z.array(z.object({ prompt: z.string(), at: z.number() })).readonly();
export type Creates = z.infer<typeof creates>;

const nothingAsked: RequestCounts = { lists: 0, fetches: 0, others: 0 };

export function createApiStandIn(url: () => string): RequestListener {
  const runs = new Map<string, StoredRun>();
  let asked = { ...nothingAsked };
  let next = 0;
  let created: Creates[number][] = [];

  function create(body: unknown): unknown {
    const { title = "", prompt = "", config, metadata = {} } = createRequest.parse(body);
    const now = Date.now();
    const name = config?.name ?? "";
    const id = randomUUID();
    const run = { id, title, prompt, name, metadata, createdAt: now, state: "QUEUED", updatedAt: now };
    runs.set(id, run);
    created.push({ prompt, at: performance.timeOrigin + performance.now() });
    setTimeout(() => Object.assign(run, { state: "INPROGRESS", updatedAt: Date.now() }), beginsAfterMs);
    return { run_id: id, task_id: id, state: run.state };
  }

  /** Runs at work, with the time since when. */
  function add({ name, runs: added }: Addition): void {
    for (const { id, at } of added) {
      const title = "fix the flaky test";
      const prompt = `${title} `.repeat(20);
      const run = {
        id,
        title,
        prompt,
        name,
        metadata: {},
        createdAt: at,
        state: "INPROGRESS",
        updatedAt: at,
      };
      runs.set(id, run);
    }
  }

  /** Switches the next `count` runs between working and waiting, one a millisecond from `at` on. */
  function change({ count, at }: Turn): void {
    const all = [...runs.values()];
    for (let index = 0; index < count; index += 1) {
      const run = all[next % all.length];
      next += 1;
      if (run === undefined) return;
      run.state = run.state === "INPROGRESS" ? "QUEUED" : "INPROGRESS";
      run.updatedAt = at + index;
    }
  }

  function list(query: URLSearchParams): unknown {
    const by = query.get("sort_by") === "created_at" ? "createdAt" : "updatedAt";
    const after = (key: string): number => Date.parse(query.get(key) ?? "") || Number.NEGATIVE_INFINITY;
    const createdAfter = after("created_after");
    const updatedAfter = after("updated_after");
    const name = query.get("name");
    const matching = [...runs.values()]
      .filter((run) => name === null || run.name === name)
      .filter((run) => run.createdAt > createdAfter && run.updatedAt > updatedAfter)
      .sort((one, other) => other[by] - one[by]);
    if (query.get("sort_order") === "asc") matching.reverse();
    const from = Number(query.get("cursor") ?? 0);
    const to = from + Number(query.get("limit") ?? 20);
    const more = to < matching.length;
    return {
      runs: matching.slice(from, to).map((run) => wireOf(run, url())),
      page_info: { has_next_page: more, ...(more ? { next_cursor: String(to) } : {}) },
    };
  }

  /** The body of a 200; undefined: there is nothing there. */
  async function answer(request: IncomingMessage): Promise<unknown> {
    const { pathname, searchParams } = new URL(request.url ?? "/", url());
    const body: unknown = request.method === "POST" ? JSON.parse((await text(request)) || "null") : null;
    const [, id] = new RegExp(`^${apiPath}/agent/runs/([^/]+)$`).exec(pathname) ?? [];
    switch (`${request.method} ${pathname}`) {
      case `POST ${controlPath}/add`:
        return add(addition.parse(body)) ?? {};
      case `POST ${controlPath}/turn`:
        return change(turn.parse(body)) ?? {};
      case `POST ${controlPath}/asked`: {
        const before = asked;
        asked = { ...nothingAsked };
        return before;
      }
      case `POST ${controlPath}/created`: {
        const before = created;
        created = [];
        return before;
      }
      case `GET ${apiPath}/agent/runs`:
        asked.lists += 1;
        return list(searchParams);
      case `POST ${apiPath}/agent/run`:
      case `POST ${apiPath}/agent/runs`:
        asked.others += 1;
        return create(body);
      default: {
        const run = id === undefined || request.method !== "GET" ? undefined : runs.get(id);
        if (run === undefined) asked.others += 1;
        else asked.fetches += 1;
        return run && wireOf(run, url());
      }
    }
  }

  const send = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };

  return (request, response) => {
    answer(request).then(
      (body) =>
        body === undefined
          ? send(response, 404, { type: "resource_not_found", title: "not found" })
          : send(response, 200, body),
      (error: unknown) => send(response, 400, { type: "invalid_request", title: String(error) }),
    );
  };
}

const wireOf = (run: StoredRun, url: string): unknown => ({
  run_id: run.id,
  task_id: run.id,
  title: run.title,
  prompt: run.prompt,
  state: run.state,
  created_at: new Date(run.createdAt).toISOString(),
  updated_at: new Date(run.updatedAt).toISOString(),
  started_at: new Date(run.createdAt + beginsAfterMs).toISOString(),
  session_id: run.id,
  session_link: `${url}/sessions/${run.id}`,
  conversation_id: run.id,
  agent_config: { name: run.name, model_id: "auto" },
  creator: { type: "service_account", uid: "bench", display_name: "API key" },
  source: "API",
  metadata: run.metadata,
  artifacts: [],
  execution_location: "REMOTE",
  is_run_type_cancellable: true,
});
