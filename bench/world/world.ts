/** The real bot as a process, between stand-ins in another one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import {
  type Addition,
  apiPath,
  type Creates,
  controlPath,
  creates,
  type RequestCounts,
  requestCounts,
  type Turn,
} from "./api-stand-in.ts";
import { runName, secrets } from "./credentials.ts";
import type { Ground, Started } from "./ground.ts";

export interface Outside extends Required<Addresses> {
  /** Sets the bot's address, to which the stand-ins deliver. */
  tellBot(url: string): Promise<void>;
  addRuns(addition: Addition): Promise<void>;
  turnRuns(turn: Turn): Promise<void>;
  /** Returns the API's requests since the last call. */
  asked(): Promise<RequestCounts>;
  end(): Promise<void>;
}

/** `answerAfterMs`: the delay of the stand-ins; `issues`: the number of issues on GitHub. */
export async function startOutside(
  ground: Ground,
  options: { readonly answerAfterMs?: number; readonly issues?: number } = {},
): Promise<Outside> {
  const { answerAfterMs = 0, issues = 0 } = options;
  const args = ["--answer-after", String(answerAfterMs), "--issues", String(issues)];
  const process = ground.start("bench/world/outside.ts", { args });
  const [, slackUrl = "", githubUrl = "", api = ""] = await process.wrote(
    /slack=(\S+) github=(\S+) api=(\S+)\n/,
  );
  const control = async (verb: string, body: unknown = null): Promise<Response> => {
    const response = await fetch(`${api}${controlPath}/${verb}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the stand-ins refused ${verb}: ${await response.text()}`);
    return response;
  };
  return {
    slackUrl,
    githubUrl,
    apiUrl: `${api}${apiPath}`,
    tellBot: async (url) => void (await control(`bot?url=${encodeURIComponent(url)}`)),
    addRuns: async (addition) => void (await control("add", addition)),
    turnRuns: async (turn) => void (await control("turn", turn)),
    asked: async () => requestCounts.parse(await (await control("asked")).json()),
    end: () => process.end(),
  };
}

/** The addresses of the stand-ins. */
export interface Addresses {
  readonly slackUrl: string;
  /** Absent: the bot has no GitHub. */
  readonly githubUrl?: string;
  /** Of the API, `/api/v1` included. */
  readonly apiUrl: string;
}

/** The environment that connects a bot to the stand-ins. */
export const environmentOf = (outside: Addresses, dataDir: string): Record<string, string> => ({
  PORT: "0",
  DATA_DIR: dataDir,
  AGENT_API_BASE_URL: outside.apiUrl,
  AGENT_API_KEY: secrets.apiKey,
  AGENT_RUN_NAME: runName,
  SLACK_BOT_TOKEN: secrets.slackToken,
  SLACK_SIGNING_SECRET: secrets.slackSigning,
  SLACK_API_URL: `${outside.slackUrl}/api/`,
  ...(outside.githubUrl !== undefined && {
    GITHUB_TOKEN: secrets.githubToken,
    GITHUB_WEBHOOK_SECRET: secrets.githubWebhook,
    GITHUB_API_URL: outside.githubUrl,
  }),
});

export type { Creates };

/** Slack and the API as `quick-outside.ts` has them; each answer takes `answerAfterMs`. */
export async function startQuickOutside(ground: Ground, answerAfterMs: number) {
  const args = ["--answer-after", String(answerAfterMs)];
  const process = ground.start("bench/world/quick-outside.ts", { args });
  const [, slackUrl = "", api = ""] = await process.wrote(/slack=(\S+) api=(\S+)\n/);
  return {
    slackUrl,
    apiUrl: `${api}${apiPath}`,
    /** Returns the runs created since the last call. */
    async creates(): Promise<Creates> {
      const response = await fetch(`${api}${controlPath}/created`, { method: "POST", body: "null" });
      return creates.parse(await response.json());
    },
    end: () => process.end(),
  };
}

/** Node's flags in `npm start`. */
const startFlags = manifest.scripts.start.split(" ").filter((word) => word.startsWith("--"));

export interface Bot extends Started {
  readonly url: string;
}

/** Resolves when the bot listens and `/readyz` returns 200. */
export async function startBot(ground: Ground, outside: Addresses, dataDir: string): Promise<Bot> {
  // The stand-ins have no limits.
  const config = join(dataDir, "bench.yaml");
  writeFileSync(config, "limits: { paced: false }\n");
  const env = { ...environmentOf(outside, dataDir), CONFIG_FILE: config };
  const started = ground.start("src/start.mjs", { flags: startFlags, env });
  const [, url = ""] = await started.wrote(/listens at (\S+)\n/);
  const ready = await fetch(`${url}/readyz`);
  if (ready.status !== 200) throw new Error(`the bot is not ready: ${await ready.text()}`);
  return { ...started, url };
}

/** One of the bot's own figures, by its name after `agent_runs_bot_`. */
export async function metricOf(bot: Bot, name: string): Promise<number> {
  const text = await (await fetch(`${bot.url}/metrics`)).text();
  const [, value] = new RegExp(`^agent_runs_bot_${name} (\\S+)$`, "m").exec(text) ?? [];
  if (value === undefined) throw new Error(`the bot has no figure ${name}`);
  return Number(value);
}

/** Bytes of memory now and at most so far; null where the system does not tell. */
export function memoryOf(pid: number): { readonly now: number; readonly most: number } | null {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return null;
  }
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
  return { now: bytes("VmRSS"), most: bytes("VmHWM") };
}
