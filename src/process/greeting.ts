import type { ApiConfig } from "#config/api.ts";
import { type Config, isSandboxed } from "#config/read-config.ts";
import type { Started } from "./run.ts";

/** Returns the sentence for `/readyz` about a platform that is not set up, for which so many effects wait. */
export const notSetUp = (held: number): string => `not set up; ${waiting(held)}`;

const waiting = (held: number): string =>
  held === 1 ? "1 update waits for it" : `${held} updates wait for it`;

/** The text that a started bot prints: its connections, and the settings for the missing ones. */
export function greeting(
  config: Config,
  { url, connecting = [], held, gaps }: Omit<Started, "stop">,
): string {
  const publicUrl = config.publicUrl ?? url;
  const rows = config.platforms.flatMap(({ kind, settings }) => {
    if (settings !== null) {
      const stillConnecting = connecting.includes(kind.name) ? ", still connecting" : "";
      return [
        [kind.title, settings.reached(publicUrl) + stillConnecting],
        ...(gaps?.get(kind.name) ?? []).map((gap) => ["", gap]),
      ];
    }
    const advice = `not connected; set ${kind.toConnect}`;
    const count = held?.get(kind.name);
    return [[kind.title, count === undefined ? advice : `${advice}; ${waiting(count)}`]];
  });
  rows.push(["Agents", agents(config.api)]);
  if (isSandboxed(config.platforms)) rows.push(["Sandbox", `try the bot at ${url}/sandbox`]);
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  const lines = rows.map(([name = "", text]) => `  ${name.padEnd(width)}  ${text}\n`);
  return `agent-runs-bot listens at ${url}\n${lines.join("")}`;
}

function agents(api: ApiConfig): string {
  if (api.kind === "remote") return `run at ${api.baseUrl}`;
  if (api.command !== null) return "run on this machine, by AGENT_COMMAND";
  return "a demonstration; set AGENT_COMMAND, or AGENT_API_BASE_URL and AGENT_API_KEY";
}
