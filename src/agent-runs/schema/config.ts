import { z } from "zod";
import { eachMaybe, mapOf, maybe } from "./lenient.ts";

/** One MCP server (`MCPServerConfig`); fields beyond these pass through. */
export const mcpServerConfig = z.looseObject({
  /** Started beside the agent, with `args` and `env`. */
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: mapOf(z.string()).optional(),
  /** Reached over HTTP, with `headers`. */
  url: z.string().optional(),
  headers: mapOf(z.string()).optional(),
  /** The id of a server that the team shares. */
  warp_id: z.string().optional(),
});
export type McpServerConfig = z.infer<typeof mcpServerConfig>;

/** Fields of `AmbientAgentConfig` besides the servers. */
const fields = {
  /** Label to group and filter runs by; the skill's name where a skill is given and no label. */
  name: z.string().nullish(),
  model_id: z.string().nullish(),
  base_prompt: z.string().nullish(),
  environment_id: z.string().nullish(),
  /** `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`. */
  skill_spec: z.string().nullish(),
  /** Several skills, in the same form, instead of `skill_spec`. */
  skills: z.array(z.string()).nullish(),
  /** A worker of the caller's own that executes the run. */
  worker_host: z.string().nullish(),
  computer_use_enabled: z.boolean().nullish(),
  computer_use_model_id: z.string().nullish(),
  /** How long the run's machine is kept after the run, in minutes. */
  idle_timeout_minutes: z.number().nullish(),
  runner_id: z.string().nullish(),
  /** The program that drives the model: `type`, `model_id`, `reasoning_level`. */
  harness: z.looseObject({}).nullish(),
  /** Names of the secrets that the harness signs in with. */
  harness_auth_secrets: z.looseObject({}).nullish(),
  session_sharing: z.looseObject({}).nullish(),
  memory_stores: z.array(z.looseObject({})).nullish(),
  inference_providers: z.looseObject({}).nullish(),
  /** Whose credentials the run uses: `CREATOR` or `EXECUTOR`. */
  credential_strategy: z.string().nullish(),
};

/** `AmbientAgentConfig` of the specification, all of it optional; `mcp_servers` is a map of name to server. */
export const agentConfig = z.looseObject({ ...fields, mcp_servers: mapOf(mcpServerConfig).nullish() });
export type AgentConfig = z.infer<typeof agentConfig>;

/** A server in a request has exactly one of these fields. */
const waysToReach = ["command", "url", "warp_id"] as const;

const newMcpServer = mcpServerConfig.refine(
  (server) => waysToReach.filter((way) => server[way] !== undefined).length === 1,
  `a server has exactly one of ${waysToReach.join(", ")}`,
);

/** The configuration as a create request has it. */
export const newAgentConfig = z.looseObject({ ...fields, mcp_servers: mapOf(newMcpServer).nullish() });

/** The configuration that a run was resolved to; read leniently, unlike the one that is sent. */
export const resolvedConfig = z.looseObject({
  ...eachMaybe(fields),
  mcp_servers: maybe(mapOf(z.looseObject({}))),
});
