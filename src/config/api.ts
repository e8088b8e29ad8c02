/** Chooses where agents run: at a remote Agent Runs API, or in the embedded service. */
import { join } from "node:path";
import type { ReadFile } from "#ports.ts";
import type { BotFile, BotFileReading } from "./bot-file.ts";
import type { Environment, Name } from "./environment.ts";
import type { ServiceOffer } from "./service-section.ts";

/** The API that the bot uses. */
export type ApiConfig =
  /** `baseUrl` ends in `/api/v1`. */
  | { readonly kind: "remote"; readonly baseUrl: string; readonly apiKey: string }
  | {
      readonly kind: "embedded";
      /** null: none is set. */
      readonly command: string | null;
      readonly workDir: string;
      readonly maxRuns: number;
      readonly timeoutMs: number;
      readonly offer: ServiceOffer;
    };

/** Reads which API the bot uses; null if it can't be determined. Adds to `problems` and `warnings`. */
export function readApi(
  values: Environment,
  isSet: (name: Name) => boolean,
  file: BotFileReading,
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

/** Problems of defaults that the embedded service would refuse. */
function unknownPicks({ called, rules, service }: BotFile): string[] {
  const { environments, models, factories } = service.catalog;
  const all = [rules.defaults, ...Object.values(rules.scopes), ...Object.values(rules.labels)];
  const ids = (declared: readonly { readonly id: string }[]): string[] => declared.map(({ id }) => id);
  const picks = [
    { key: "environment", section: "environments", known: ids(environments) },
    { key: "model", section: "models", known: ids(models) },
    // Uids and aliases are accepted too, ignoring case; problems list the names only.
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

/** Problems of declared skills whose file can't be read. */
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

/** Reads how agents run on this machine. */
export const readEmbedded = (values: Environment) => ({
  command: values.AGENT_COMMAND ?? null,
  workDir: values.AGENT_WORK_DIR ?? join(values.DATA_DIR, "work"),
  maxRuns: values.AGENT_MAX_RUNS,
  timeoutMs: values.AGENT_TIMEOUT * 1000,
});
