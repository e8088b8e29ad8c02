/** The stand-ins print events from the programs' documentation; the programs themselves were not run. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { offering } from "#test/support/service/git-repository.ts";
import { serving } from "#test/support/service/serving.ts";

type Event = object | string;

/** A run whose preset prints these lines and then ends, or waits if asked to. */
async function running(
  preset: string,
  lines: readonly Event[],
  how: { exit?: number; waits?: true; variables?: Record<string, string> } = {},
) {
  const bin = await freshFolder();
  await mkdir(join(bin, "bin"));
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const program = `#!${process.execPath}
const text = ${JSON.stringify(`${text}\n`)};
process.stdin.resume().on("end", () => {
  for (let at = 0; at < text.length; at += 7) process.stdout.write(text.slice(at, at + 7));
  ${how.waits ? "setTimeout(() => {}, 60_000)" : `process.exitCode = ${how.exit ?? 0}`};
});`;
  await writeFile(join(bin, "bin", preset), program, { mode: 0o755 });
  const environment = { PATH: `${join(bin, "bin")}:${process.env.PATH}`, HOME: bin };
  const { api } = await serving({
    command: preset,
    environment,
    catalog: offering({ variables: how.variables ?? {} }),
  });
  return { api, id: await api.create({ prompt: "x", config: { environment_id: "app" } }) };
}

const claudeSays = (...content: object[]) => ({ type: "assistant", message: { role: "assistant", content } });
const claudeDoes = (name: string, input: object) => ({ type: "tool_use", id: "t", name, input });
const claudeWork = [
  { type: "system", subtype: "init", session_id: "s", tools: ["Bash"] },
  claudeSays({ type: "thinking", thinking: "hm" }, { type: "text", text: "I look at the tests." }),
  claudeSays(claudeDoes("Bash", { command: "npm test\n# all of them", description: "Run tests" })),
  { type: "user", message: { role: "user", content: [{ type: "tool_result", content: "1 failed" }] } },
  { ...claudeSays({ type: "text", text: "from inside" }), parent_tool_use_id: "t" },
  claudeSays(claudeDoes("Odd", {})),
];
const codexItem = (type: "item.started" | "item.completed", item: object) => ({ type, item });
const codexWork = [
  { type: "thread.started", thread_id: "t" },
  { type: "turn.started" },
  codexItem("item.completed", { id: "0", type: "reasoning", text: "hm" }),
  codexItem("item.completed", { id: "1", type: "agent_message", text: "I look at the tests." }),
  codexItem("item.started", {
    id: "2",
    type: "command_execution",
    command: "npm test",
    status: "in_progress",
  }),
  codexItem("item.completed", { id: "2", type: "command_execution", command: "npm test", exit_code: 1 }),
  codexItem("item.completed", { id: "3", type: "file_change", changes: [{ path: "a.ts", kind: "update" }] }),
];
const turnDone = { type: "turn.completed", usage: { input_tokens: 1, output_tokens: 1 } };

test.each([
  ["claude", claudeWork, "I look at the tests.\n\n▸ Bash: npm test\n▸ from inside\n▸ Odd"],
  ["codex", codexWork, "I look at the tests.\n\n▸ npm test\n▸ edit: a.ts"],
] as const)("the tool calls of %s are shown while it works", async (preset, work, seen) => {
  const { api, id } = await running(preset, work, { waits: true });
  await api.until(id, "INPROGRESS");
  await expect.poll(async () => (await api.said(id)).at(-1), { timeout: 20_000 }).toBe(`assistant: ${seen}`);
  await api.cancel(id);
});

test.each([
  ["claude", [...claudeWork, { type: "result", subtype: "success", is_error: false, result: "Fixed it." }]],
  ["claude", [...claudeWork, claudeSays({ type: "text", text: "Fixed it." })]],
  [
    "claude",
    [
      ...claudeWork,
      claudeSays({ type: "text", text: "Fixed it." }),
      { type: "result", subtype: "success", is_error: false, result: "" },
    ],
  ],
  ["claude", [...claudeWork, claudeSays({ type: "text", text: "Fixed it." }, { type: "odd", text: 7 })]],
  [
    "codex",
    [
      { type: "error", message: "Reconnecting... 1/5" },
      codexItem("item.completed", { type: "agent_message", text: "Fixed it." }),
      turnDone,
    ],
  ],
  [
    "codex",
    [...codexWork, codexItem("item.completed", { type: "agent_message", text: "Fixed it." }), turnDone],
  ],
] as const)("the last text of %s is its answer", async (preset, lines) => {
  const { api, id } = await running(preset, lines);
  await api.until(id, "SUCCEEDED");
  expect(await api.said(id)).toEqual(["user: x", "assistant: Fixed it."]);
});

test("a question at the end of the answer makes the run BLOCKED", async () => {
  const result = "Which one?\nAGENT_BLOCKED";
  const { api, id } = await running("claude", [...claudeWork, { type: "result", is_error: false, result }]);
  await api.until(id, "BLOCKED");
  expect((await api.said(id)).at(-1)).toBe("assistant: Which one?");
});

test.each([
  ["claude", 1, { type: "result", subtype: "success", is_error: true, result: "No credit left" }],
  [
    "claude",
    0,
    { type: "result", subtype: "error_during_execution", is_error: true, errors: ["No credit left"] },
  ],
  ["codex", 1, { type: "turn.failed", error: { message: "No credit left" } }],
] as const)("the reason why %s failed (exit code %i) is reported", async (preset, exit, event) => {
  const { api, id } = await running(preset, [event], { exit });
  const run = await api.until(id, "FAILED");
  expect(run.status_message?.message).toContain("No credit left");
});

test("lines that are not events and output without any known event are shown unchanged", async () => {
  const plain = await running("claude", ["warning: old version", "{ broken", "Fixed it."]);
  await plain.api.until(plain.id, "SUCCEEDED");
  expect((await plain.api.said(plain.id)).at(-1)).toBe(
    "assistant: warning: old version\n{ broken\nFixed it.",
  );
  const odd = { id: "0", msg: { type: "agent_message", message: "Fixed it." } };
  const other = await running("codex", [odd, "7", "null"]);
  await other.api.until(other.id, "SUCCEEDED");
  expect((await other.api.said(other.id)).at(-1)).toBe(`assistant: 7\nnull\n${JSON.stringify(odd)}`);
});

test("a line of many megabytes is ignored", async () => {
  const picture = { type: "user", message: { content: "x".repeat(6_000_000) } };
  const lines = [picture, { type: "result", is_error: false, result: "Fixed it." }];
  const { api, id } = await running("claude", lines);
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: Fixed it.");
});

test("codex's connection errors are shown and are not failures by themselves", async () => {
  const { api, id } = await running("codex", [{ type: "error", message: "Reconnecting... 1/5" }], {
    exit: 1,
  });
  await api.until(id, "FAILED");
  expect(await api.said(id)).toEqual([
    "user: x",
    "assistant: ▸ Reconnecting... 1/5",
    "system: The agent's command ended with exit code 1.",
  ]);
});

test("a secret in a tool call is hidden, even if the line is cut within it", async () => {
  const secret = `sesame-${"0123456789".repeat(10)}`;
  const command = `curl ${"-v ".repeat(50)} -H "Authorization: ${secret}" https://example.com/`;
  const { api, id } = await running("claude", [claudeSays(claudeDoes("Bash", { command }))], {
    variables: { DEPLOY_TOKEN: secret },
  });
  await api.until(id, "SUCCEEDED");
  const answer = (await api.said(id)).at(-1);
  expect(answer).toContain("Authorization: ***");
  expect(answer).not.toContain("sesame");
});

test("the end of an agent's failure message is reported without control characters", async () => {
  const message = `${"x".repeat(100_000)}\n\u001b[31mNo\u0007 credit left\u001b[0m`;
  const { api, id } = await running("codex", [{ type: "turn.failed", error: { message } }]);
  const told = (await api.until(id, "FAILED")).status_message?.message ?? "";
  expect(told).toMatch(/^The agent failed: [\s\S]*No credit left$/);
  expect(told.length).toBeLessThan(5_000);
});

test("a failure without a message is reported as a failure", async () => {
  const event = { type: "result", subtype: "success", is_error: true, result: "" };
  const { api, id } = await running("claude", [event]);
  expect((await api.until(id, "FAILED")).status_message?.message).toBe("The agent failed.");
});

test("an answer without events keeps its paragraphs", async () => {
  const { api, id } = await running("claude", ["One.", "", "Two."]);
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: One.\n\nTwo.");
});
