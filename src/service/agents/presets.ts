/**
 * The command-line agents that people have, as the one word that is their command. Each works without
 * asking for permission, since there is nobody to give it: what a run may do is for the machine to bound.
 */

import { writeDurably } from "#disk/durable-file.ts";
import type { Command } from "#service/processes/run-process.ts";
import { blockedLine, type Turn } from "./agent.ts";
import { readClaude, readCodex } from "./agent-events.ts";
import type { ReadEvent } from "./json-lines.ts";
import { forClaude, forCodex, forGemini, forOpencode, forOz } from "./mcp-formats.ts";

/** How a command is called for one turn; `environment` is added to the command's. */
export interface Call {
  readonly command: Command;
  readonly input: string;
  readonly environment: Readonly<Record<string, string>>;
  /** For a program that tells of its work in events; absent: what it prints is its answer. */
  readonly events?: ReadEvent;
}

/** Writes a file of the run's own and resolves with its path. */
type WriteFile = (ending: string, text: string) => Promise<string>;
type Preset = (turn: Turn, model: string | null, write: WriteFile) => Promise<Call>;

/**
 * What such an agent can't know. It stands first, so that no prompt that begins with a slash is taken for one
 * of the program's own commands.
 */
const briefing = ({ artifactsFolder }: Turn): string =>
  `You work unattended: nobody can answer while you work. If you can't go on without an answer, end with your \
question and then a line with nothing but ${blockedLine}. Files for people to look at, such as reports and \
screenshots, belong in the folder ${artifactsFolder}.`;

const briefed = (turn: Turn): string => `${briefing(turn)}\n\n${turn.input}`;

const hasServers = (turn: Turn): boolean => Object.keys(turn.mcpServers).length > 0;
/** With `=`, so that no value is taken for an option. */
const option = (name: string, value: string | null): string[] => (value === null ? [] : [`${name}=${value}`]);

/** https://code.claude.com/docs/en/cli-reference. As text it would print nothing before its end. */
const claude: Preset = async (turn, model, write) => {
  const servers = hasServers(turn)
    ? await write("claude.json", JSON.stringify(forClaude(turn.mcpServers)))
    : null;
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
 * https://developers.openai.com/codex/noninteractive. Its sandbox lets nobody commit in a worktree, whose
 * commits are kept in a folder elsewhere, or push.
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

/** https://geminicli.com/docs/cli/headless. In a folder that nobody trusts it would ask, and so not start. */
const gemini: Preset = async (turn, model, write) => {
  const settings = hasServers(turn)
    ? await write("gemini.json", JSON.stringify(forGemini(turn.mcpServers)))
    : null;
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
  const config = hasServers(turn)
    ? await write("opencode.json", JSON.stringify(forOpencode(turn.mcpServers)))
    : null;
  return {
    command: { program: "opencode", args: ["run", "--auto", ...option("--model", model)] },
    input: briefed(turn),
    environment: config === null ? {} : { OPENCODE_CONFIG: config },
  };
};

/** Linux takes no argument of 128 KiB. */
const mostArgumentBytes = 100_000;

/** https://docs.warp.dev/reference/cli. It reads no prompt from stdin. */
const oz: Preset = async (turn, model, write) => {
  const servers = hasServers(turn) ? await write("oz.json", JSON.stringify(forOz(turn.mcpServers))) : null;
  const input = briefed(turn);
  const prompt =
    Buffer.byteLength(input) <= mostArgumentBytes
      ? input
      : `What you are to do is written in the file ${await write("prompt.txt", input)}: read all of it.`;
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
 * How the command is called: a preset if it is exactly the name of one, else as a line for the shell that
 * reads its input. Rejects with the file system's error.
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
