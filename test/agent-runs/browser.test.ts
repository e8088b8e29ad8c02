import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundleForBrowser, type Plant, runScenario } from "#test/support/agent-runs/bare-realm.ts";
import { type Handler, problem, reset, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const conversation = {
  conversation_id: "c-1",
  steps: [
    { id: "1", messages: [{ role: "assistant", content: [{ type: "text", text: "dõne" }] }], steps: [] },
  ],
};
const one = { uid: "f-1", name: "one" };

/** Turns every second create away; lists have two pages. */
function service(): Handler {
  let creates = 0;
  return ({ method, url, body }) => {
    const path = url.pathname.replace("/api/v1/", "");
    const page_info = url.searchParams.has("cursor")
      ? { has_next_page: false }
      : { has_next_page: true, next_cursor: "2" };
    switch (path) {
      case "agent/run":
        if (body.includes("break")) return reset;
        creates += 1;
        return creates % 2 === 1
          ? { status: 429, headers: { "retry-after": new Date().toUTCString() } }
          : { body: { run_id: "made", state: "QUEUED" } };
      case "agent/runs":
        return { body: { runs: [run], page_info } };
      case "agent/runs/gone":
        return problem("resource_not_found", 404);
      case "agent/runs/odd":
        return { body: { ...run, state: 5 } };
      case "agent/runs/run-1/conversation":
        return { body: conversation };
      case "agent/environments":
        return { body: { environments: [{ uid: "e-1", config: {} }] } };
      case "agent/models":
        return { body: { models: [{ id: "m-1" }] } };
      case "agent":
        return { body: { agents: [{ name: "deploy", variants: [] }] } };
      case "factory":
        return { body: { factories: [one], page_info: url.searchParams.has("search") ? null : page_info } };
      case "factory/f-1/runs":
        return { body: { run_id: "dispatched", state: "QUEUED" } };
      case "factory/one":
        return problem("resource_not_found", 404);
      case "late":
        return () => undefined;
      case "other":
        return { body: { method, sent: JSON.parse(body) } };
      default:
        return { body: run };
    }
  };
}

async function play(plant?: Plant): Promise<unknown> {
  const gone = await startLocalApi(() => ({}));
  await gone.close();
  await using api = await startLocalApi(service());
  return await runScenario(await bundleForBrowser(plant), api.baseUrl, gone.baseUrl);
}

test("the client does everything from one script without Node", async () => {
  expect(await play()).toEqual({
    created: "made",
    ids: ["run-1", "run-1"],
    uids: ["f-1", "f-1"],
    fetched: ["INPROGRESS", 200, "application/json"],
    followUp: null,
    cancelled: "run-1",
    said: [{ role: "assistant", text: "dõne" }],
    environments: 1,
    models: 1,
    skills: 1,
    factory: "f-1",
    dispatched: "dispatched",
    other: { method: "PUT", sent: { a: 1 } },
    failures: [
      ["NotFoundError", "refused", "resource_not_found"],
      ["ResponseSchemaError", "refused", null],
      ["InvalidRequestError", "not-sent", null],
      ["AmbiguousOutcomeError", "unknown", null],
      ["RequestTimeoutError", "unknown", null],
      ["RequestAbortedError", "not-sent", null],
      ["ConnectionError", "not-sent", null],
    ],
  });
});

/** Puts a line at the beginning of one file. */
const inFile =
  (file: string, line: string): Plant =>
  (code, id) =>
    id.endsWith(`/${file}`) ? `${line}\n${code}` : code;

test.each([
  ["a Node module", inFile("query.ts", 'import "node:buffer";')],
  ["a Node module that is loaded later", inFile("calls.ts", 'void import("node:fs");')],
  ["process", inFile("client.ts", "process.cwd();")],
  ["Buffer", inFile("query.ts", 'Buffer.from("a");')],
])("a client that uses %s fails without Node", async (_, plant) => {
  await expect(play(plant)).rejects.toThrow(/node:|is not defined/);
});

/** The compiler's output for the client's code and one more file, with the web's types and none of Node's. */
async function compileForWeb(lines: readonly string[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "agent-runs-web-"));
  try {
    cpSync(join(root, "src/agent-runs"), join(folder, "agent-runs"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "agent-runs/planted.ts"), [...lines, "export {};\n"].join("\n"));
    const compilerOptions = { types: [], lib: ["es2022", "dom", "dom.iterable"] };
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["agent-runs"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const ended = promisify(execFile)(process.execPath, [tsc, "--project", folder]);
    return await ended.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("no line of the client names something that only Node has", async () => {
  expect(await compileForWeb()).toBe("");
});

test("the compiler would find each use of Node in it", async () => {
  const lines = ["process.cwd();", 'Buffer.from("a");', 'import "node:fs";', "setImmediate(() => {});"];
  const output = await compileForWeb(lines);
  for (const at of lines.keys()) expect(output).toContain(`planted.ts(${at + 1},`);
});
