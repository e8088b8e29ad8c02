import { request } from "node:http";
import { expect, test } from "vitest";
import { createResponse, problem } from "#agent-runs/schema.ts";
import { apiKey, problemOf, serving } from "#test/support/service/serving.ts";

test("a request without the right key gets only a 401", async () => {
  const { api } = await serving();
  for (const authorization of [
    "",
    "Bearer",
    "Bearer wrong",
    `Basic ${apiKey}`,
    `Bearer ${apiKey}x`,
    apiKey,
  ]) {
    const answer = await api.send("GET", "/agent/runs", undefined, { authorization });
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(await problemOf(Promise.resolve(answer))).toMatchObject({
      http: 401,
      type: expect.stringMatching(/\/authentication_required$/),
      retryable: false,
    });
  }
  const created = await api.send("POST", "/agent/run", { prompt: "x" }, { authorization: "Bearer wrong" });
  expect(created.status).toBe(401);
  expect((await api.list("")).runs).toEqual([]);
});

test("an empty API key authorises nobody", async () => {
  const { api } = await serving({ apiKey: "" });
  for (const authorization of ["Bearer ", "Bearer", ""]) {
    expect((await api.send("GET", "/agent/runs", undefined, { authorization })).status).toBe(401);
  }
});

test("a problem document has every field of the wire format", async () => {
  const { api } = await serving();
  const found = await problemOf(api.send("GET", "/agent/runs/none?x=1"));
  expect(found).toEqual({
    http: 404,
    type: expect.stringMatching(/\/resource_not_found$/),
    title: "Not found",
    status: 404,
    detail: "There is no run none.",
    error: "Not found: There is no run none.",
    instance: "/api/v1/agent/runs/none",
    retryable: false,
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test.each([
  ["GET", "/agent/runs/none"],
  ["GET", "/agent/runs/none/conversation"],
  ["POST", "/agent/runs/none/followups"],
  ["POST", "/agent/runs/none/cancel"],
  ["GET", "/agent/runs/..%2f..%2fowner"],
  ["GET", "/elsewhere"],
  ["GET", ""],
])("%s %s returns 404", async (method, path) => {
  const { api } = await serving();
  expect(
    await problemOf(api.send(method, path, method === "POST" ? { message: "x" } : undefined)),
  ).toMatchObject({
    http: 404,
  });
});

test.each([
  ["GET", "/agent/run", "POST"],
  ["DELETE", "/agent/runs", "GET, HEAD, POST"],
  ["PATCH", "/agent/runs/one", "GET, HEAD"],
  ["GET", "/agent/runs/one/cancel", "POST"],
  ["PUT", "/agent/runs/one/followups", "POST"],
  ["POST", "/agent/runs/one/conversation", "GET, HEAD"],
])("%s %s returns 405 with the allowed methods", async (method, path, allow) => {
  const { api } = await serving();
  const answer = await api.send(method, path);
  expect(answer.headers.get("allow")).toBe(allow);
  expect(await problemOf(Promise.resolve(answer))).toMatchObject({ http: 405 });
});

test("both paths create a run", async () => {
  const { api } = await serving();
  for (const path of ["/agent/run", "/agent/runs"]) {
    expect((await api.send("POST", path, { prompt: "x" })).status).toBe(200);
  }
  expect((await api.list("")).runs).toHaveLength(2);
});

const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, "value"]));

test.each([
  ["", "empty"],
  ["{", "JSON"],
  ["[]", "the body"],
  ['"text"', "the body"],
  ["{}", "prompt"],
  [{ prompt: "  \n" }, "prompt"],
  [{ prompt: 7 }, "prompt"],
  [{ prompt: "x", title: {} }, "title"],
  [{ prompt: "x", config: "fast" }, "config"],
  [{ prompt: "x", config: { name: 7 } }, "config.name"],
  [{ prompt: "x", config: { mcp_servers: [] } }, "config.mcp_servers"],
  [{ prompt: "x", metadata: pairs(21) }, "metadata: at most 20 pairs"],
  [{ prompt: "x", metadata: { "bad key": "x" } }, "metadata.bad key: a key has"],
  [{ prompt: "x", metadata: { ["k".repeat(65)]: "x" } }, "metadata."],
  [{ prompt: "x", metadata: { key: "ü".repeat(129) } }, "metadata.key: a value has at most 256 bytes"],
  [{ prompt: "x", metadata: { key: "\0" } }, "metadata.key: a value has no NUL"],
  [{ prompt: "x", metadata: { key: 7 } }, "metadata.key"],
])("a create with the body %j is refused and the problem names the fault", async (body, named) => {
  const { api } = await serving();
  const found = await problemOf(api.send("POST", "/agent/run", body));
  expect(found).toMatchObject({ http: 400, type: expect.stringMatching(/\/invalid_request$/) });
  expect(found.detail).toContain(named);
  expect((await api.list("")).runs).toEqual([]);
});

test("metadata at its limits is kept unchanged", async () => {
  const { api } = await serving();
  const metadata = { ...pairs(18), ["K.-_".repeat(16)]: "ü".repeat(128), empty: "" };
  const id = await api.create({ prompt: "x", metadata });
  expect((await api.run(id)).metadata).toEqual(metadata);
});

test("a run has no conversation before its first message", async () => {
  const { api } = await serving({ maxRuns: 1, command: "sleep 60" });
  await api.until(await api.create({ prompt: "x" }), "INPROGRESS");
  const id = await api.create({ skill: "octo/app:review" });
  expect(await problemOf(api.send("GET", `/agent/runs/${id}/conversation`))).toMatchObject({
    http: 404,
    type: expect.stringMatching(/\/resource_not_found$/),
  });
  await api.followUp(id, "Go on");
  expect(await api.said(id)).toContain("user: Go on");
  const other = await api.create({ prompt: "Wait" });
  expect(await api.said(other)).toEqual(["user: Wait"]);
});

test("names with a meaning in JavaScript are ordinary names of metadata", async () => {
  const { api } = await serving({ command: "cat" });
  const metadata = '{"__proto__":"a","constructor":"b"}';
  const answer = await api.send("POST", "/agent/run", `{"prompt":"x","metadata":${metadata}}`);
  const { run_id } = createResponse.parse(await answer.json());
  await api.until(run_id, "SUCCEEDED");
  expect(await (await api.send("GET", `/agent/runs/${run_id}`)).text()).toContain(metadata);
  for (const pair of ["metadata[__proto__]=a", "metadata[constructor]=b"]) {
    expect((await api.list(pair)).runs).toHaveLength(1);
  }
});

test("unknown members of the configuration are kept", async () => {
  const { api } = await serving();
  const config = { name: "n", environment_id: "e", idle_timeout_minutes: 5, worker_host: "w" };
  const id = await api.create({ prompt: "x", config, interactive: false, something: "new" });
  expect((await api.run(id)).agent_config).toEqual(config);
});

test("invalid attachments are refused and the problem names them", async () => {
  const { api } = await serving();
  for (const [attachments, named] of [
    [[{ file_name: "a.txt", mime_type: "text/plain", data: "no base64" }], "attachments.0.data"],
    [[{ file_name: "../a", mime_type: "text/plain", data: "aGk=" }], "attachments.0.file_name"],
    [[{ mime_type: "text/plain", data: "aGk=" }], "attachments.0.file_name"],
    [Array(6).fill({ file_name: "a", mime_type: "text/plain", data: "" }), "attachments"],
  ]) {
    const found = await problemOf(api.send("POST", "/agent/run", { prompt: "x", attachments }));
    expect(found).toMatchObject({ http: 400, detail: expect.stringContaining(String(named)) });
  }
  expect((await api.list("")).runs).toEqual([]);
});

test.each([[{}], [{ message: "" }], [{ message: " " }], [{ message: 7 }], [{ message: "x", mode: "odd" }]])(
  "a follow-up with the body %j is refused",
  async (body) => {
    const { api } = await serving();
    const id = await api.create({ prompt: "x" });
    expect(await problemOf(api.send("POST", `/agent/runs/${id}/followups`, body))).toMatchObject({
      http: 400,
    });
  },
);

test("a body that is too large is refused before it has arrived", async () => {
  const { api } = await serving();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    // One byte too many, without an announced length and without an end.
    const unending = request(
      `${api.address}/api/v1/agent/run`,
      { method: "POST", headers: { authorization: `Bearer ${apiKey}` } },
      (answer) => {
        resolve(answer.statusCode);
        unending.destroy();
      },
    );
    unending.on("error", reject);
    unending.write(Buffer.alloc(10_000_000, " "), () => unending.write(" "));
  });
  expect(status).toBe(413);
  const announced = await problemOf(
    api.send("POST", "/agent/run", JSON.stringify({ prompt: "x".repeat(10_000_001) })),
  );
  expect(announced).toMatchObject({ http: 413, type: expect.stringMatching(/\/invalid_request$/) });
  expect((await api.list("")).runs).toEqual([]);
});

test("before its start and after its stop the service is unavailable", async () => {
  const { service, stop } = await serving();
  await stop();
  const answer = await service.fetch(new Request("http://127.0.0.1/api/v1/agent/runs"));
  // After a 500 a client could not tell whether its run was created.
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(problem.parse(await answer.json())).toMatchObject({
    type: expect.stringMatching(/\/resource_unavailable$/),
    retryable: true,
  });
});
