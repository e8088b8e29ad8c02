import type { ApiConfig, Config } from "#config/read-config.ts";

/** What people read once the bot has started: what is on, and what to set to go on. `url`: where it listens. */
export function greeting(config: Config, url: string): string {
  const { api, slack, github } = config;
  const publicUrl = config.publicUrl ?? url;
  const lines = [
    `agent-runs-bot listens at ${url}`,
    slack === null
      ? "  Slack    not connected; set SLACK_BOT_TOKEN, and SLACK_APP_TOKEN or SLACK_SIGNING_SECRET"
      : `  Slack    ${slack.receive.kind === "socket" ? "Socket Mode" : `request URL ${publicUrl}/slack/events`}`,
    github === null
      ? "  GitHub   not connected; set GITHUB_WEBHOOK_SECRET, and GITHUB_TOKEN or a GitHub App"
      : `  GitHub   webhook URL ${publicUrl}/github/webhooks`,
    `  Agents   ${agents(api)}`,
  ];
  if (slack === null && github === null) lines.push(`  Sandbox  try the bot at ${url}/sandbox`);
  return `${lines.join("\n")}\n`;
}

function agents(api: ApiConfig): string {
  if (api.kind === "remote") return `run at ${api.baseUrl}`;
  if (api.command !== null) return "run on this machine, by AGENT_COMMAND";
  return "a demonstration; set AGENT_COMMAND, or AGENT_API_BASE_URL and AGENT_API_KEY";
}
