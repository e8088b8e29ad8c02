/** Uses the client as a page could. It is bundled for the browser, and runs without Node's globals. */
import { createAgentRunsClient } from "#agent-runs/client.ts";
import { AgentRunsError } from "#agent-runs/errors.ts";

/** Returns the result of each call, as JSON. `goneUrl` is the address of a server that has ended. */
async function scenario(baseUrl: string, goneUrl: string): Promise<string> {
  const tries = { apiKey: "wk-0123456789-secret", backoffMs: 1, maxBackoffMs: 2 };
  const client = createAgentRunsClient({ baseUrl, ...tries });
  const gone = createAgentRunsClient({ baseUrl: goneUrl, ...tries, retries: 1 });
  const ids: string[] = [];
  for await (const { run_id } of client.listAll({ state: ["QUEUED"], metadata: { a: "b" } }))
    ids.push(run_id);
  const uids: string[] = [];
  for await (const { uid } of client.allFactories()) uids.push(uid);
  const reply = await client.fetch("run-1").withResponse();
  const signal = AbortSignal.abort();
  return JSON.stringify({
    created: (await client.create({ prompt: "é", metadata: { key: "ü" } })).run_id,
    ids,
    uids,
    fetched: [reply.data.state, reply.status, reply.headers.get("content-type")],
    followUp: (await client.followUp("run-1", { message: "go on" })) ?? null,
    cancelled: await client.cancel("run-1"),
    said: await client.messages("run-1"),
    environments: (await client.environments()).environments.length,
    models: (await client.models()).models.length,
    skills: (await client.skills()).agents.length,
    factory: await client.findFactory("one"),
    dispatched: (await client.dispatchToFactory("f-1", "x")).run_id,
    other: await client.request({ method: "PUT", path: "other", body: { a: 1 } }),
    failures: await Promise.all([
      failure(client.fetch("gone")),
      failure(client.fetch("odd")),
      failure(client.create({})),
      failure(client.create({ prompt: "break" })),
      failure(client.request({ method: "GET", path: "late" }, { timeoutMs: 30, retries: 0 })),
      failure(client.fetch("run-1", { signal })),
      failure(gone.create({ prompt: "x" })),
    ]),
  });
}

const failure = (call: Promise<unknown>): Promise<readonly unknown[]> =>
  call.then(
    () => ["no failure"],
    (error: unknown) =>
      error instanceof AgentRunsError ? [error.name, error.certainty, error.code ?? null] : [String(error)],
  );

Object.assign(globalThis, { scenario });
