/** The server that the clients call, in its own process. */
import { createServer } from "node:http";
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();

/** A run in progress, as the service reports it. */
const runOf = (at: number) => ({
  run_id: `run-${at}`,
  task_id: `run-${at}`,
  title: "Fix the flaky test",
  prompt: "The test of the store fails once in fifty runs: find out why, and make it right.",
  state: "INPROGRESS",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:01:00Z",
  started_at: "2026-01-01T00:00:10Z",
  session_id: `session-${at}`,
  session_link: `https://agents.example.com/sessions/${at}`,
  conversation_id: `conversation-${at}`,
  agent_config: { name: "agent-runs-bot", model_id: "model-1", environment_id: "environment-1" },
  creator: { type: "service_account", uid: "account-1", display_name: "Bot" },
  source: "API",
  metadata: { "agent-runs-bot.dispatch": `dispatch-${at}`, "agent-runs-bot.scope": "slack:T1/C1" },
  artifacts: [
    {
      artifact_type: "PULL_REQUEST",
      created_at: "2026-01-01T00:00:50Z",
      data: { url: `https://github.com/acme/app/pull/${at}`, branch: "fix" },
    },
  ],
  request_usage: { inference_cost: 1.5, compute_cost: 0.25 },
  execution_location: "REMOTE",
  is_run_type_cancellable: true,
});

const page = { runs: Array.from({ length: 100 }, (_, at) => runOf(at)), page_info: { has_next_page: false } };
const bodies = {
  run: JSON.stringify(runOf(1)),
  page: JSON.stringify(page),
  created: JSON.stringify({ run_id: "run-1", task_id: "run-1", state: "QUEUED" }),
};

function bodyOf(method: string | undefined, path: string | undefined): string {
  if (method === "POST") return bodies.created;
  return path?.includes("/runs/") ? bodies.run : bodies.page;
}

const server = createServer((request, response) => {
  const body = bodyOf(request.method, request.url);
  request.resume().once("end", () => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    response.writeHead(200, headers).end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  process.stdout.write(`listens at http://127.0.0.1:${address.port}/api/v1\n`);
});
