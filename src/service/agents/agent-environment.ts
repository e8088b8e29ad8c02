import { dirname } from "node:path";
import { withoutGitPlace } from "#service/files/git.ts";
import type { Turn } from "./agent.ts";

/**
 * The bot's own secrets, which an agent that works on somebody's request must not have. GITHUB_TOKEN is one
 * of them although an agent may want a token: it would speak as the bot. Give agents their own, as a
 * variable of their environment, or inside AGENT_COMMAND.
 */
const withheld = /^(SLACK_.*|GITHUB_.*|AGENT_API_KEY|DATABASE_URL)$/i;

/** By it a turn's processes are told from those of the set-up (stray-processes.ts), also inside another run. */
const foreign = "AGENT_TURN";

/** What every process of the service's runs inherits: what the service was given, without secrets. */
export const inherited = (
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  texts(
    Object.entries(withoutGitPlace(environment)).filter(([name]) => name !== foreign && !withheld.test(name)),
  );

/** The command's environment: the inherited one, the declared variables, and the facts of the turn. */
export function agentEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  turn: Turn,
): Record<string, string> {
  const own: Record<string, string | null> = {
    AGENT_RUN_ID: turn.runId,
    AGENT_TURN: String(turn.number),
    AGENT_MODEL: turn.model,
    AGENT_SKILL: turn.skill,
    AGENT_ENVIRONMENT_ID: turn.environmentId,
    AGENT_MCP_CONFIG: turn.mcpFile,
    AGENT_ATTACHMENTS: turn.attachmentsFolder,
    AGENT_ARTIFACTS: turn.artifactsFolder,
  };
  return {
    ...inherited(environment),
    ...turn.variables,
    ...placedIn(turn.folder),
    ...texts(Object.entries(own)),
  };
}

/** For a process that works in the folder. */
export const placedIn = (folder: string): Record<string, string> => ({
  // Some programs believe it rather than look.
  PWD: folder,
  // Without a repository of its own it must not work in one that happens to be around all folders.
  GIT_CEILING_DIRECTORIES: dirname(folder),
});

/** No process can be given a NUL. */
const texts = (pairs: readonly (readonly [string, string | null | undefined])[]): Record<string, string> =>
  Object.fromEntries(
    pairs.flatMap(([name, value]) => (typeof value === "string" ? [[name, value.replaceAll("\0", "")]] : [])),
  );
