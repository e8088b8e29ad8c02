/**
 * Command-line agents that can be named by one word. They run without permission prompts, because no person could
 * answer one: the machine must limit what a run may do.
 */
import { writeDurably } from "#disk/durable-file.ts";
import type { Command } from "#service/processes/run-process.ts";
import { blockedLine, type Turn } from "./agent.ts";
import { readClaude, readCodex } from "./agent-events.ts";
import type { ReadEvent } from "./json-lines.ts";
import { forClaude, forCodex, forGemini, forOpencode, type McpServers } from "./mcp-formats.ts";

/** The call of a command for one turn. */
export interface Call {
  readonly command: Command;
  readonly input: string;
  /** Added to the agent's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Reads the program's events; absent: its output is its answer. */
  readonly events?: ReadEvent;
}

/** Writes a file outside of the run's folder and resolves with its path. */
type WriteFile = (ending: string, text: string) => Promise<string>;
type Preset = (turn: Turn, model: string | null, write: WriteFile) => Promise<Call>;

/**
 * Instructions for running unattended. They come first, so that a prompt that begins with a slash is not read as
 * one of the program's own commands.
 */
const briefing = ({ artifactsFolder }: Turn): string =>
  `You work unattended: nobody can answer while you work. If you can't go on without an answer, end with your \
question and then a line with nothing but ${blockedLine}. Files for people to look at, such as reports and \
screenshots, belong in the folder ${artifactsFolder}.`;

const briefed = (turn: Turn): string => `${briefing(turn)}\n\n${turn.input}`;

const hasServers = (turn: Turn): boolean => Object.keys(turn.mcpServers).length > 0;

/** The path of a new file with the run's MCP servers; null if it has none. */
const serversFile = async (
  turn: Turn,
  write: WriteFile,
  ending: string,
  format: (servers: McpServers) => unknown,
) => (hasServers(turn) ? write(ending, JSON.stringify(format(turn.mcpServers))) : null);

/** With `=`, so that no value is read as an option. */
const option = (name: string, value: string | null): string[] => (value === null ? [] : [`${name}=${value}`]);

/** https://code.claude.com/docs/en/cli-reference. Its text output would print nothing before the end. */
const claude: Preset = async (turn, model, write) => {
  const servers = await serversFile(turn, write, "claude.json", forClaude);
  const args = [
    "--print",
    "--output-format=stream-json",
    "--verbose",
    "--permission-mode=bypassPermissions",
    ...option("--model", model),
    ...option("--mcp-config", servers),
  ];
  const command = { program: "claude", args };
  return { command, input: briefed(turn), environment: {}, events: readClaude };
};

/**
 * https://developers.openai.com/codex/noninteractive. Its sandbox would prevent pushes, and commits in a worktree,
 * whose repository is in another folder.
 */
const codex: Preset = async (turn, model) => {
  const servers = hasServers(turn) ? forCodex(turn.mcpServers) : null;
  const args = [
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    ...option("--model", model),
    ...(servers === null ? [] : [`--config=mcp_servers=${servers.value}`]),
    "-",
  ];
  return {
    command: { program: "codex", args },
    input: briefed(turn),
    environment: servers?.environment ?? {},
    events: readCodex,
  };
};

/** https://geminicli.com/docs/cli/headless. It would ask before it works in an untrusted folder. */
const gemini: Preset = async (turn, model, write) => {
  const settings = await serversFile(turn, write, "gemini.json", forGemini);
  const args = ["--approval-mode=yolo", "--output-format=text", ...option("--model", model)];
  return {
    command: { program: "gemini", args },
    input: briefed(turn),
    environment: {
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      ...(settings === null ? {} : { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: settings }),
    },
  };
};

/** https://opencode.ai/docs/cli; models are named `provider/model`. */
const opencode: Preset = async (turn, model, write) => {
  const config = await serversFile(turn, write, "opencode.json", forOpencode);
  return {
    command: { program: "opencode", args: ["run", "--auto", ...option("--model", model)] },
    input: briefed(turn),
    environment: config === null ? {} : { OPENCODE_CONFIG: config },
  };
};

/** Linux limits an argument to 128 KiB. */
const mostArgumentBytes = 100_000;

/** https://docs.warp.dev/reference/cli. It reads no prompt from stdin. */
const oz: Preset = async (turn, model, write) => {
  const servers = await serversFile(turn, write, "oz.json", (all) => all);
  const input = briefed(turn);
  const prompt =
    Buffer.byteLength(input) <= mostArgumentBytes
      ? input
      : `Your task is in the file ${await write("prompt.txt", input)}: read all of it.`;
  const args = [
    "agent",
    "run",
    "--output-format=text",
    `--cwd=${turn.folder}`,
    ...option("--model", model),
    ...option("--mcp", servers),
    `--prompt=${prompt.replaceAll("\0", "")}`,
  ];
  return { command: { program: "oz", args }, input: "", environment: {} };
};

const presets: ReadonlyMap<string, Preset> = new Map(Object.entries({ claude, codex, gemini, opencode, oz }));

/**
 * The call of the command: the preset with exactly this name, else a shell line with the input on stdin. Rejects
 * with the file system's error.
 */
export async function callOf(command: string, turn: Turn): Promise<Call> {
  const preset = presets.get(command.trim());
  if (preset === undefined) return { command: { line: command }, input: turn.input, environment: {} };
  return preset(turn, turn.model?.replaceAll("\0", "") || null, async (ending, text) => {
    const path = `${turn.ownFiles}.${ending}`;
    await writeDurably(path, text);
    return path;
  });
}
