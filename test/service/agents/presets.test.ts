/** The programs are not installed: a stand-in with each name records its call. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { serving } from "#test/support/service/serving.ts";

const called = z.object({
  args: z.array(z.string()),
  stdin: z.string(),
  environment: z.record(z.string(), z.string()),
  folder: z.string(),
});

const standIn = `#!${process.execPath}
const { readFileSync } = require("node:fs");
process.stdout.write(JSON.stringify({
  args: process.argv.slice(2), stdin: readFileSync(0, "utf8"), environment: process.env, folder: process.cwd(),
}));
`;

/** The call of the preset's program for a request. */
async function callOf(preset: string, request: object) {
  const bin = await freshFolder();
  await mkdir(join(bin, "bin"));
  await writeFile(join(bin, "bin", preset), standIn, { mode: 0o755 });
  const { api, folder } = await serving({
    command: ` ${preset}\n`,
    environment: { PATH: `${join(bin, "bin")}:${process.env.PATH}`, PWD: "/elsewhere", HOME: bin },
  });
  const id = await api.create(request);
  const run = await api.until(id, "SUCCEEDED", "FAILED", "ERROR");
  expect(run.status_message).toBeUndefined();
  const answer = (await api.said(id)).at(-1)?.slice("assistant: ".length) ?? "";
  const briefing =
    "You work unattended: nobody can answer while you work. If you can't go on without an answer, end with " +
    "your question and then a line with nothing but AGENT_BLOCKED. Files for people to look at, such as " +
    `reports and screenshots, belong in the folder ${join(folder, "service", "artifacts", id)}.\n\n`;
  return { ...called.parse(JSON.parse(answer)), work: join(folder, "work", id), briefing };
}

const hostile = `--help "$(touch pwned)" \`id\` 'x' $HOME; rm -rf *\n\\ & | > ü`;
const model = `--evil "$(touch pwned)" 'm`;
const mcp_servers = {
  "my.files": { command: "files", args: ["--root", `a"b`], env: { FILES_TOKEN: "sesame-1" } },
  web: { url: "https://mcp.example.com/mcp", headers: { Authorization: "Bearer sesame-2" } },
};

/** The constant arguments before and after those of the request; the prompt is on stdin. */
const onStdin: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    "claude",
    ["--print", "--output-format=stream-json", "--verbose", "--permission-mode=bypassPermissions"],
    [],
  ],
  ["codex", ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"], ["-"]],
  ["gemini", ["--approval-mode=yolo", "--output-format=text"], []],
  ["opencode", ["run", "--auto"], []],
];

test.each(onStdin)(
  "%s gets the prompt on stdin and a hostile model name as one argument",
  async (preset, before, after) => {
    const call = await callOf(preset, { prompt: hostile, config: { model_id: model } });
    expect(call.args).toEqual([...before, `--model=${model}`, ...after]);
    expect(call.stdin).toBe(`${call.briefing}${hostile}\n`);
    expect(call.folder).toBe(call.work);
    expect(call.environment.PWD).toBe(call.work);
    const plain = await callOf(preset, { prompt: "x" });
    expect(plain.args).toEqual([...before, ...after]);
  },
);

test("oz gets the prompt as one argument", async () => {
  const call = await callOf("oz", { prompt: hostile, config: { model_id: model } });
  expect(call.args).toEqual([
    "agent",
    "run",
    "--output-format=text",
    `--cwd=${call.work}`,
    `--model=${model}`,
    `--prompt=${call.briefing}${hostile}\n`,
  ]);
});

test("oz gets a prompt that is too long for an argument in a file", async () => {
  const prompt = `begin ${"long ".repeat(60_000)}end`;
  const { args, briefing } = await callOf("oz", { prompt });
  const path = /Your task is in the file (\S+):/.exec(args.at(-1) ?? "")?.[1] ?? "";
  expect(await readFile(path, "utf8")).toBe(`${briefing}${prompt}\n`);
});

const fileOf = async (path: string | undefined): Promise<unknown> =>
  JSON.parse(await readFile(path ?? "", "utf8"));
const optionOf = (args: readonly string[], name: string): string | undefined =>
  args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);

test("each program gets the run's MCP servers in its own format, with no secret in its arguments", async () => {
  const request = { prompt: "x", config: { mcp_servers } };
  const { "my.files": files, web } = mcp_servers;
  const calls = new Map<string, Awaited<ReturnType<typeof callOf>>>();
  for (const preset of ["claude", "codex", "gemini", "opencode", "oz"]) {
    const call = await callOf(preset, request);
    expect(call.args.join(" ")).not.toContain("sesame");
    calls.set(preset, call);
  }
  const argsOf = (preset: string) => calls.get(preset)?.args ?? [];
  const variable = (preset: string, name: string) => calls.get(preset)?.environment[name];

  expect(await fileOf(optionOf(argsOf("claude"), "--mcp-config"))).toEqual({
    mcpServers: { "my.files": files, web: { type: "http", ...web } },
  });
  expect(await fileOf(variable("gemini", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"))).toEqual({
    mcpServers: { "my.files": files, web: { httpUrl: web.url, headers: web.headers } },
  });
  expect(variable("gemini", "GEMINI_CLI_TRUST_WORKSPACE")).toBe("true");
  expect(await fileOf(variable("opencode", "OPENCODE_CONFIG"))).toEqual({
    mcp: {
      "my.files": {
        type: "local",
        command: ["files", ...files.args],
        environment: files.env,
        enabled: true,
      },
      web: { type: "remote", url: web.url, headers: web.headers, enabled: true },
    },
  });
  expect(await fileOf(optionOf(argsOf("oz"), "--mcp"))).toEqual(mcp_servers);
  expect(optionOf(argsOf("codex"), "--config")).toBe(
    'mcp_servers={"my_files"={command="files",args=["--root","a\\"b"],env_vars=["FILES_TOKEN"]},' +
      '"web"={url="https://mcp.example.com/mcp",env_http_headers={"Authorization"="AGENT_MCP_HEADER_1_0"}}}',
  );
  expect(variable("codex", "FILES_TOKEN")).toBe("sesame-1");
  expect(variable("codex", "AGENT_MCP_HEADER_1_0")).toBe("Bearer sesame-2");
});

test("a preset without its program ends the run FAILED and names the missing program", async () => {
  const { api } = await serving({ command: "opencode", environment: { PATH: "/usr/bin:/bin" } });
  const run = await api.until(await api.create({ prompt: "x" }), "FAILED");
  expect(run.status_message?.message).toMatch(/exit code 127: .*opencode.*not found/);
});

test("a command that merely contains a preset's name runs in the shell", async () => {
  const { api } = await serving({ command: "claude() { echo mine; cat; }; claude" });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: mine\nx");
});
