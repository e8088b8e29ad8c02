import { dirname } from "node:path";
import { withoutGitPlace } from "#service/files/git.ts";
import type { Turn } from "./agent.ts";

/**
 * The bot's own secrets, which no agent may have. GITHUB_TOKEN would let an agent speak as the bot: give agents
 * their own token, as a variable of their environment or inside AGENT_COMMAND.
 */
const withheld = /^(SLACK_.*|GITHUB_.*|AGENT_API_KEY|DATABASE_URL)$/i;

/** Marks a turn's processes (stray-processes.ts), so a service inside another run must not pass it on. */
const turnMark = "AGENT_TURN";

/** The service's environment for the processes of its runs, without the bot's secrets. */
export const inherited = (
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  texts(
    Object.entries(withoutGitPlace(environment)).filter(
      ([name]) => name !== turnMark && !withheld.test(name),
    ),
  );

/** The environment of an agent's command: inherited, declared and turn variables. */
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

/** Variables for a process that works in the folder. */
export const placedIn = (folder: string): Record<string, string> => ({
  // Some programs trust it instead of asking the system.
  PWD: folder,
  // Keeps git from using a repository around the run's folder.
  GIT_CEILING_DIRECTORIES: dirname(folder),
});

/** Environment variables can't contain NUL. */
const texts = (pairs: readonly (readonly [string, string | null | undefined])[]): Record<string, string> =>
  Object.fromEntries(
    pairs.flatMap(([name, value]) => (typeof value === "string" ? [[name, value.replaceAll("\0", "")]] : [])),
  );
