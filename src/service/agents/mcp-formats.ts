/** A run's MCP servers in the formats of the different programs. */
import type { McpServerConfig } from "#agent-runs/schema.ts";

/** A run's servers by name. */
export type McpServers = Readonly<Record<string, McpServerConfig>>;

/** Servers that are started or reached over HTTP. Only the hosted service knows shared ones (`warp_id`). */
const own = (servers: McpServers): readonly (readonly [string, McpServerConfig])[] =>
  Object.entries(servers).filter(([, { command, url }]) => command !== undefined || url !== undefined);

const ownAs = (servers: McpServers, format: (server: McpServerConfig) => unknown): unknown =>
  Object.fromEntries(own(servers).map(([name, server]) => [name, format(server)]));

/** Claude Code starts servers without a type, so those with a URL need one. */
export const forClaude = (servers: McpServers): unknown => ({
  mcpServers: ownAs(servers, (server) => (server.url === undefined ? server : { type: "http", ...server })),
});

/** Gemini CLI uses `url` for server-sent events and `httpUrl` for HTTP. */
export const forGemini = (servers: McpServers): unknown => ({
  mcpServers: ownAs(servers, ({ url, ...server }) =>
    url === undefined ? server : { ...server, httpUrl: url },
  ),
});

/** opencode's own configuration. */
export const forOpencode = (servers: McpServers): unknown => ({
  mcp: ownAs(servers, ({ command, args = [], env, url, headers }) =>
    url === undefined
      ? { type: "local", command: [command, ...args], environment: env, enabled: true }
      : { type: "remote", url, headers, enabled: true },
  ),
});

/**
 * Codex takes servers as a TOML value among its arguments, which every user of the machine can read, so secrets
 * become variables of the environment. It allows only letters, digits, `_` and `-` in names.
 */
export function forCodex(servers: McpServers): {
  readonly value: string;
  readonly environment: Readonly<Record<string, string>>;
} {
  const environment: Record<string, string> = {};
  const tables = own(servers).map(([name, { command, args = [], env = {}, url, headers = {} }], place) => {
    if (url === undefined) {
      Object.assign(environment, env);
      const fields = [`command=${toml(command ?? "")}`, `args=${tomlList(args)}`];
      return [name, [...fields, `env_vars=${tomlList(Object.keys(env))}`]] as const;
    }
    const named = Object.entries(headers).map(([header, secret], nth) => {
      const variable = `AGENT_MCP_HEADER_${place}_${nth}`;
      environment[variable] = secret;
      return `${toml(header)}=${toml(variable)}`;
    });
    return [name, [`url=${toml(url)}`, `env_http_headers={${named.join(",")}}`]] as const;
  });
  const value = `{${tables.map(([name, fields]) => `${toml(name.replaceAll(/[^\w-]/g, "_"))}={${fields.join(",")}}`).join(",")}}`;
  return { value, environment };
}

/** A basic string: JSON's escapes are TOML's, except for DEL. */
const toml = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");
const tomlList = (texts: readonly string[]): string => `[${texts.map(toml).join(",")}]`;
