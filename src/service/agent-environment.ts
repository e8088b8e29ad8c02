import type { Turn } from "./agent.ts";

/**
 * The bot's own secrets, which an agent that works on somebody's request must not have. GITHUB_TOKEN is one
 * of them although an agent may want a token: it would speak as the bot. Give agents their own, under a
 * name of its own or inside AGENT_COMMAND.
 */
const withheld = /^(SLACK_.*|GITHUB_.*|AGENT_API_KEY|DATABASE_URL)$/i;

/** The command's environment: what the service was given, without secrets, and the facts of the turn. */
export function agentEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  turn: Turn,
): Record<string, string> {
  const own: Record<string, string | null> = {
    AGENT_RUN_ID: turn.runId,
    AGENT_MODEL: turn.model,
    AGENT_SKILL: turn.skill,
    AGENT_ENVIRONMENT_ID: turn.environmentId,
    AGENT_MCP_CONFIG: turn.mcpFile,
  };
  const kept = Object.entries(environment).filter(([name]) => !withheld.test(name));
  return Object.fromEntries(
    [...kept, ...Object.entries(own)].filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}
