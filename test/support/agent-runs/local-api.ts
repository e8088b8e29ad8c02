import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AgentRunsClientOptions, createAgentRunsClient } from "#agent-runs/client.ts";
import { listen } from "#test/support/listen.ts";

interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

/** Answers a request; a function of the raw response can misbehave. */
export type Handler = (request: Seen) => Reply | ((response: ServerResponse) => void);

export const apiKey = "wk-0123456789-secret";

/** Short waits, so that tests of retries take milliseconds; no test checks the times. */
const quick = { apiKey, backoffMs: 1, maxBackoffMs: 2 };

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** A real HTTP server with the given answers, which records its requests. */
export async function startLocalApi(handler: Handler) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const asked: Seen = {
      method: request.method ?? "",
      url: new URL(request.url ?? "", "http://local"),
      headers: request.headers,
      body: await readBody(request),
    };
    seen.push(asked);
    const reply = handler(asked);
    if (typeof reply === "function") return reply(response);
    const { status = 200, headers = {}, body = {} } = reply;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  const { url, close } = await listen(server);
  const baseUrl = `${url}/api/v1`;
  return {
    seen,
    baseUrl,
    close,
    client: (options: Partial<AgentRunsClientOptions> = {}) =>
      createAgentRunsClient({ baseUrl, ...quick, ...options }),
    [Symbol.asyncDispose]: close,
  };
}

/** Sends the replies in turn, and repeats the last one. */
export const inTurn = (...replies: (Reply | ((response: ServerResponse) => void))[]): Handler => {
  let next = 0;
  return () => {
    const reply = replies[Math.min(next, replies.length - 1)] ?? {};
    next += 1;
    return reply;
  };
};

/** Breaks the connection without an answer. */
export const reset = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy();
};

/** Resolves with the call's error; rejects if the call succeeds. */
export const rejection = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );

export const run = {
  run_id: "run-1",
  task_id: "run-1",
  title: "Fix the test",
  prompt: "fix the flaky test",
  state: "INPROGRESS",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:01:00Z",
};

export const problem = (
  code: string,
  status: number,
  more: Readonly<Record<string, unknown>> = {},
): Reply => ({
  status,
  headers: { "content-type": "application/problem+json" },
  body: {
    type: `https://docs.example.com/errors/${code}`,
    title: "A title",
    status,
    error: "A title: a detail.",
    detail: "A detail.",
    instance: "/api/v1/agent/run",
    trace_id: "trace-7",
    ...more,
  },
});
