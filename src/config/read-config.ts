import { join } from "node:path";
import type { Rules } from "#core/policy.ts";
import type { Given, PlatformKind, PlatformSettings, ReadFile } from "#ports.ts";
import { type BotFile, readBotFile } from "./bot-file.ts";
import { distinctiveNames, type Environment, type Name, readEnvironment } from "./environment.ts";
import { misspelled } from "./misspelled.ts";
import { type ServiceOffer, secretsOfOffer } from "./service-section.ts";
import { isLoopback } from "./variables.ts";

export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How the world reaches the bot, without a slash at its end; null: at the address where it listens. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly api: ApiConfig;
  /** Every platform that there is. */
  readonly platforms: readonly ConfiguredPlatform[];
  readonly pollIntervalMs: number;
  readonly logLevel: Environment["LOG_LEVEL"];
  readonly rules: Rules;
}

export interface ConfiguredPlatform {
  readonly kind: PlatformKind;
  /** null: it is not set up. */
  readonly settings: PlatformSettings | null;
}

/** Whether the sandbox is on: no platform is set up. */
export const isSandboxed = (platforms: readonly ConfiguredPlatform[]): boolean =>
  platforms.every(({ settings }) => settings === null);

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

/** `problems` prevent the start, `warnings` don't; each is a sentence for people, without secrets. */
export type Reading<C> =
  | { readonly ok: true; readonly config: C; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** Reads the whole configuration and reports everything that is wrong with it at once. */
export function readConfig(
  environment: Given,
  readFile: ReadFile,
  kinds: readonly PlatformKind[],
): Reading<Config> {
  const { values, isSet, problems } = readEnvironment(environment);
  const warnings = misspelled(environment, distinctiveNames(kinds));
  const platforms = kinds.map((kind) => {
    const reading = kind.read(environment, readFile);
    problems.push(...reading.problems);
    return { kind, settings: reading.settings };
  });
  const file = readBotFile(values.CONFIG_FILE, readFile, kinds);
  const api = readApi(values, isSet, file, readFile, problems, warnings);
  if (!file.ok) problems.push(...file.problems);
  if (isSandboxed(platforms) && problems.length === 0) problems.push(...exposedSandbox(values, kinds));
  if (problems.length > 0 || api === null || !file.ok) return { ok: false, problems, warnings };
  const config = {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL ?? null,
    dataDir: values.DATA_DIR,
    api,
    platforms,
    pollIntervalMs: Math.round(values.POLL_INTERVAL * 1000),
    logLevel: values.LOG_LEVEL,
    rules: { ...file.rules, runName: values.AGENT_RUN_NAME },
  };
  return { ok: true, config, warnings };
}

const anyOf = new Intl.ListFormat("en", { type: "disjunction" });

/** Settings that would show the sandbox, which has no login, to other machines. */
function exposedSandbox({ HOST, PUBLIC_URL }: Environment, kinds: readonly PlatformKind[]): string[] {
  const setUp = `set up ${anyOf.format(kinds.map(({ title }) => title))}`;
  const problems: string[] = [];
  if (PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname)) {
    problems.push(
      `PUBLIC_URL makes the bot reachable from other machines, but the sandbox has no login: ${setUp}, or unset PUBLIC_URL.`,
    );
  }
  if (!isLoopback(HOST)) {
    problems.push(
      `HOST must be 127.0.0.1, this machine's own address, while the sandbox is on, which has no login: set it so, or ${setUp}.`,
    );
  }
  return problems;
}

function readApi(
  values: Environment,
  isSet: (name: Name) => boolean,
  file: ReturnType<typeof readBotFile>,
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

/** Defaults that the service on this machine would refuse: every run with them would fail. */
function unknownPicks({ called, rules, service }: BotFile): string[] {
  const { environments, models, factories } = service.catalog;
  const all = [rules.defaults, ...Object.values(rules.scopes), ...Object.values(rules.labels)];
  const ids = (declared: readonly { readonly id: string }[]): string[] => declared.map(({ id }) => id);
  const picks = [
    { key: "environment", section: "environments", known: ids(environments) },
    { key: "model", section: "models", known: ids(models) },
    // A uid or an alias will do too, in any case; only the names are shown.
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

/** Declared skills whose file can't be read: runs would go without their text. */
export function missingSkills(
  { called, service }: Pick<BotFile, "called" | "service">,
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

/** Every secret of the configuration, for the log to keep out. */
export function secretsOf({ api, platforms, rules }: Config): string[] {
  return longEnough([
    ...hiddenIn(rules.mcpServers, false),
    ...(api.kind === "remote" ? [api.apiKey] : secretsOfOffer(api.offer)),
    ...platforms.flatMap(({ settings }) => settings?.secrets ?? []),
  ]);
}

/** Drops values that are too short for a secret: they would tear ordinary words out of the log. */
export const longEnough = (secrets: readonly string[]): string[] =>
  secrets.filter((secret) => secret.length >= 8);

/** The values that MCP servers are sent as headers or given as environment. */
function hiddenIn(value: unknown, secret: boolean): string[] {
  if (typeof value === "string") return secret ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    hiddenIn(inner, secret || key === "headers" || key === "env"),
  );
}
