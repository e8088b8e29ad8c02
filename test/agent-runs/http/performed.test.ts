/** A service that performs what it is asked, and then answers as if it had not, or not at all. */
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { AgentRunsClient } from "#agent-runs/client.ts";
import { type Reply, rejection, reset, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const cut = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"run_id":"run-1",', () => response.destroy());
};

/** Longer than the calls' time limit. */
const late = (response: ServerResponse): void => {
  setTimeout(() => response.end('{"run_id":"run-1","state":"QUEUED"}'), 300);
};

const html = { headers: { "content-type": "text/html" }, body: "<html>One moment, please</html>" };

const answers: readonly [string, Reply | ((response: ServerResponse) => void)][] = [
  ["a 500", { status: 500 }],
  ["a 502 of a proxy", { ...html, status: 502 }],
  ["a 503", { status: 503 }],
  ["a 503 with Retry-After", { status: 503, headers: { "retry-after": "0" } }],
  ["a 504", { status: 504 }],
  ["a 408", { status: 408 }],
  ["a 303", { status: 303, headers: { location: "/api/v1/agent/runs/run-1" } }],
  ["a 503 that is cut off", (response) => response.writeHead(503).write("{", () => response.destroy())],
  ["a late answer", late],
  ["no answer", reset],
  ["a page of a proxy", html],
];

/** Follow-ups need no body of the answer, so that these are no failures for them. */
const broken: typeof answers = [
  ["an answer that is cut off", cut],
  ["broken JSON", { body: '{"run_id":"run-1",' }],
  ["an empty answer", { body: "" }],
  ["a 204", (response) => response.writeHead(204).end()],
];

const creates: readonly [string, (client: AgentRunsClient) => Promise<unknown>][] = [
  ["create", (client) => client.create({ prompt: "x" })],
  ["factory dispatch", (client) => client.dispatchToFactory("f-1", "x")],
];
const followUp: (typeof creates)[number] = [
  "follow-up",
  (client) => client.followUp("run-1", { message: "x" }),
];

const cases = [
  ...[...creates, followUp].flatMap(([name, call]) =>
    answers.map(([what, answer]) => ({ name, call, what, answer })),
  ),
  ...creates.flatMap(([name, call]) => broken.map(([what, answer]) => ({ name, call, what, answer }))),
];

test.each(cases)(
  "a $name that is performed and answered with $what is unknown, and performed once",
  async ({ call, answer }) => {
    let performed = 0;
    await using api = await startLocalApi(({ method }) => {
      if (method === "POST") performed += 1;
      return answer;
    });
    const error = await rejection(call(api.client({ retries: 5, timeoutMs: 200 })));
    expect(error).toMatchObject({ certainty: "unknown" });
    expect(performed).toBe(1);
  },
);
