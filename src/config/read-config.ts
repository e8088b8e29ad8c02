import type { Rules } from "#core/policy.ts";
import type { Given, PlatformKind, PlatformSettings, ReadFile } from "#ports.ts";
import { type ApiConfig, readApi } from "./api.ts";
import { readBotFile } from "./bot-file.ts";
import { distinctiveNames, type Environment, readEnvironment } from "./environment.ts";
import { misspelled } from "./misspelled.ts";
import { secretsOfOffer } from "./service-section.ts";
import { isLoopback } from "./variables.ts";

/** The bot's configuration. */
export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** `PUBLIC_URL`, without a slash at its end; null: the bot is reached where it listens. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly api: ApiConfig;
  /** Every platform, set up or not. */
  readonly platforms: readonly ConfiguredPlatform[];
  readonly pollIntervalMs: number;
  readonly logLevel: Environment["LOG_LEVEL"];
  readonly rules: Rules;
  /** Settling times that people have set, in milliseconds, by `api` and the platforms' names. */
  readonly settlingMs: Readonly<Record<string, number>>;
  /** Replies are searched for in places with a sign of life within this time. */
  readonly livelyMs: number;
  /** Whether posts are spaced as the platforms ask. */
  readonly isPaced: boolean;
}

/** A platform and its settings. */
export interface ConfiguredPlatform {
  readonly kind: PlatformKind;
  /** null: it is not set up. */
  readonly settings: PlatformSettings | null;
}

/** Whether the sandbox is on: no platform is set up. */
export const isSandboxed = (platforms: readonly ConfiguredPlatform[]): boolean =>
  platforms.every(({ settings }) => settings === null);

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
    settlingMs: file.settlingMs,
    livelyMs: file.livelyMs,
    isPaced: file.isPaced,
  };
  return { ok: true, config, warnings };
}

const anyOf = new Intl.ListFormat("en", { type: "disjunction" });

/** Problems of settings that would expose the sandbox, which has no login, to other machines. */
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

/** Returns every secret of the configuration, for the log to redact. */
export function secretsOf({ api, platforms, rules }: Config): string[] {
  return longEnough([
    ...hiddenIn(rules.mcpServers, false),
    ...(api.kind === "remote" ? [api.apiKey] : secretsOfOffer(api.offer)),
    ...platforms.flatMap(({ settings }) => settings?.secrets ?? []),
  ]);
}

/** Drops values shorter than 8 characters: redacting them would garble the log. */
export const longEnough = (secrets: readonly string[]): string[] =>
  secrets.filter((secret) => secret.length >= 8);

/** The values of all `headers` and `env`. */
function hiddenIn(value: unknown, secret: boolean): string[] {
  if (typeof value === "string") return secret ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    hiddenIn(inner, secret || key === "headers" || key === "env"),
  );
}
