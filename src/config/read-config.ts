import { join } from "node:path";
import type { Rules } from "#core/policy.ts";
import { type Environment, type Given, isLoopback, type Name, readEnvironment } from "./environment.ts";
import { type FileConfig, readConfigFile } from "./file.ts";
import { type GitHubConfig, type ReadFile, readGitHub } from "./github.ts";
import { misspelled } from "./misspelled.ts";
import { type ServiceOffer, secretsOfOffer } from "./service-section.ts";
import { readSlack, type SlackConfig } from "./slack.ts";

export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How the world reaches the bot, without a slash at its end; null: at the address where it listens. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly api: ApiConfig;
  readonly slack: SlackConfig | null;
  readonly github: GitHubConfig | null;
  readonly pollIntervalMs: number;
  readonly logLevel: Environment["LOG_LEVEL"];
  readonly rules: Rules;
}

export type ApiConfig =
  /** `baseUrl` ends in `/api/v1`. */
  | { readonly kind: "remote"; readonly baseUrl: string; readonly apiKey: string }
  | {
      readonly kind: "embedded";
      /** null: none was chosen. */
      readonly command: string | null;
      readonly workDir: string;
      readonly maxRuns: number;
      readonly timeoutMs: number;
      readonly offer: ServiceOffer;
    };

/** `problems` keep the bot from starting, `warnings` don't; each is a sentence for people, without secrets. */
export type Reading =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

const defaultFile = "agent-runs-bot.yaml";

/** Reads the whole configuration and tells everything that is wrong with it at once. */
export function readConfig(env: Given, readFile: ReadFile): Reading {
  const { values, isSet, problems } = readEnvironment(env);
  const warnings = misspelled(env);
  const ambient = env.GITHUB_ACTIONS === "true" || env.CODESPACES === "true";
  const slack = readSlack(values, isSet, problems);
  const github = readGitHub(values, isSet, ambient, readFile, problems);
  const file = readFileConfig(values.CONFIG_FILE, readFile);
  const api = readApi(values, isSet, file, readFile, problems, warnings);
  if (!file.ok) problems.push(...file.problems);
  const sandboxed = slack === null && github === null && problems.length === 0;
  if (sandboxed && values.PUBLIC_URL !== undefined && !isLoopback(new URL(values.PUBLIC_URL).hostname)) {
    problems.push(
      "PUBLIC_URL leads the whole world here, but the sandbox has no login: set up Slack or GitHub, or leave PUBLIC_URL out.",
    );
  }
  if (sandboxed && !isLoopback(values.HOST)) {
    problems.push(
      "HOST must be this machine's own 127.0.0.1 while the sandbox is on, since that has no login: set it so, or set up Slack or GitHub.",
    );
  }
  if (problems.length > 0 || api === null || !file.ok) return { ok: false, problems, warnings };
  const config = {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL ?? null,
    dataDir: values.DATA_DIR,
    api,
    slack,
    github,
    pollIntervalMs: Math.round(values.POLL_INTERVAL * 1000),
    logLevel: values.LOG_LEVEL,
    rules: { ...file.rules, runName: values.AGENT_RUN_NAME },
  };
  return { ok: true, config, warnings };
}

function readApi(
  values: Environment,
  isSet: (name: Name) => boolean,
  file: FileReading,
  readFile: ReadFile,
  problems: string[],
  warnings: string[],
): ApiConfig | null {
  const { AGENT_API_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = values;
  if (isSet("AGENT_API_KEY") && !isSet("AGENT_API_BASE_URL")) {
    problems.push("AGENT_API_BASE_URL is missing: the URL of the Agent Runs API that AGENT_API_KEY is for.");
  }
  if (isSet("AGENT_API_BASE_URL") && !isSet("AGENT_API_KEY")) {
    problems.push(
      "AGENT_API_KEY is missing: make one in the settings of your Agent Runs service, or unset AGENT_API_BASE_URL to run agents on this machine.",
    );
  }
  if (isSet("AGENT_API_BASE_URL") || isSet("AGENT_API_KEY")) {
    const idle: Name[] = ["AGENT_COMMAND", "AGENT_WORK_DIR", "AGENT_MAX_RUNS", "AGENT_TIMEOUT"];
    for (const name of idle.filter(isSet)) warnings.push(`${name} has no effect while AGENT_API_KEY is set.`);
    if (file.ok && file.hasService) {
      warnings.push(`${file.called}: service has no effect while AGENT_API_KEY is set.`);
    }
    return baseUrl === undefined || apiKey === undefined ? null : { kind: "remote", baseUrl, apiKey };
  }
  if (!file.ok) return null;
  problems.push(...unknownPicks(file), ...missingSkills(file, readFile));
  return { kind: "embedded", ...readEmbedded(values), offer: file.service };
}

/** Defaults that name what the service on this machine would refuse: every run with them would fail. */
function unknownPicks({ called, rules, service }: { readonly called: string } & FileConfig): string[] {
  const { environments, models, factories } = service.catalog;
  const all = [rules.defaults, ...Object.values(rules.scopes), ...Object.values(rules.labels)];
  const ids = (declared: readonly { readonly id: string }[]): string[] => declared.map(({ id }) => id);
  const picks = [
    { key: "environment", section: "environments", known: ids(environments) },
    { key: "model", section: "models", known: ids(models) },
    // By uid too, and whatever the case; only the names are told.
    { key: "factory", section: "factories", known: factories.map(({ name }) => name) },
  ] as const;
  const others = factories.flatMap(({ uid, name, aliases }) =>
    [uid, name, ...aliases].map((each) => each.toLowerCase()),
  );
  return picks.flatMap(({ key, section, known }) =>
    [...new Set(all.flatMap((defaults) => defaults[key] ?? []))]
      .filter((name) => known.length > 0 && !known.includes(name))
      .filter((name) => key !== "factory" || !others.includes(name.toLowerCase()))
      .map(
        (name) =>
          `${called}: ${key} names ${name}, which is not under service.${section} (${known.join(", ")}).`,
      ),
  );
}

/** Declared skills without a text: runs with them would go without it. */
export function missingSkills(
  { called, service }: { readonly called: string } & FileConfig,
  readFile: ReadFile,
): string[] {
  const isThere = (path: string): boolean => {
    try {
      return readFile(path) !== null;
    } catch {
      return false;
    }
  };
  return service.catalog.skills
    .filter(({ file }) => !isThere(file))
    .map(
      ({ spec, file }) => `${called}: service.skills.${spec}.file names ${file}, where no file can be read.`,
    );
}

/** How agents run on this machine. */
export const readEmbedded = (values: Environment) => ({
  command: values.AGENT_COMMAND ?? null,
  workDir: values.AGENT_WORK_DIR ?? join(values.DATA_DIR, "work"),
  maxRuns: values.AGENT_MAX_RUNS,
  timeoutMs: values.AGENT_TIMEOUT * 1000,
});

type FileReading =
  /** `called` is how people are told of it. */
  | ({ readonly ok: true; readonly called: string } & FileConfig)
  | { readonly ok: false; readonly problems: readonly string[] };

/** The config file, which need not be there unless it was `chosen`. */
export function readFileConfig(chosen: string | undefined, readFile: ReadFile): FileReading {
  const called = chosen ?? defaultFile;
  let content: string | null;
  try {
    content = readFile(called);
  } catch {
    const problem = `CONFIG_FILE can't be read: check that ${called} is a file and who may read it.`;
    return { ok: false, problems: [problem] };
  }
  if (content === null && chosen !== undefined) {
    const problem = `CONFIG_FILE names ${called}, which does not exist: correct the path, or unset it.`;
    return { ok: false, problems: [problem] };
  }
  const read = readConfigFile(called, content);
  return read.ok ? { ...read, called } : read;
}

/** Every secret of the configuration, so that the log can keep them out whatever happens. */
export function secretsOf({ api, slack, github, rules }: Config): string[] {
  const secrets = [...leaves(rules.mcpServers, false)];
  secrets.push(...(api.kind === "remote" ? [api.apiKey] : secretsOfOffer(api.offer)));
  if (slack !== null) {
    secrets.push(slack.botToken);
    secrets.push(slack.receive.kind === "http" ? slack.receive.signingSecret : slack.receive.appToken);
  }
  if (github !== null) {
    const { credentials } = github;
    secrets.push(credentials.kind === "token" ? credentials.token : credentials.privateKey);
    // Two, with a comma between them, while it is being changed.
    secrets.push(...github.webhookSecret.split(",").map((secret) => secret.trim()));
  }
  return telling(secrets);
}

/** Shorter values are hardly secrets, and would tear ordinary words out of the log. */
export const telling = (secrets: readonly string[]): string[] =>
  secrets.filter((secret) => secret.length >= 8);

/** Values that MCP servers are sent as headers or given as environment. */
function leaves(value: unknown, secret: boolean): string[] {
  if (typeof value === "string") return secret ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner, secret || key === "headers" || key === "env"),
  );
}
