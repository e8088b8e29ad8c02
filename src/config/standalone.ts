import { type Environment, type Given, type Name, readEnvironment } from "./environment.ts";
import type { ReadFile } from "./github.ts";
import { misspelled } from "./misspelled.ts";
import { missingSkills, readEmbedded, readFileConfig, telling } from "./read-config.ts";
import { type ServiceOffer, secretsOfOffer } from "./service-section.ts";

/** The embedded service by itself, without the bot. */
export interface StandaloneConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How callers reach the service, without a slash at its end; null: at the address where it listens. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  /** What callers must present; null: it is made once and kept. */
  readonly apiKey: string | null;
  /** null: none was chosen. */
  readonly command: string | null;
  readonly workDir: string;
  readonly maxRuns: number;
  readonly timeoutMs: number;
  readonly offer: ServiceOffer;
  readonly logLevel: Environment["LOG_LEVEL"];
}

/** As `Reading` of the bot. */
export type StandaloneReading =
  | { readonly ok: true; readonly config: StandaloneConfig; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** What of the environment the service reads; the rest is the bot's. */
const read: readonly Name[] = [
  "HOST",
  "PORT",
  "PUBLIC_URL",
  "DATA_DIR",
  "CONFIG_FILE",
  "AGENT_API_KEY",
  "AGENT_COMMAND",
  "AGENT_WORK_DIR",
  "AGENT_MAX_RUNS",
  "AGENT_TIMEOUT",
  "LOG_LEVEL",
];

/** Reads what concerns the service alone, and tells everything that is wrong with it at once. */
export function readStandaloneConfig(env: Given, readFile: ReadFile): StandaloneReading {
  const given = Object.fromEntries(read.map((name) => [name, env[name]]));
  const { values, problems } = readEnvironment(given);
  const warnings = misspelled(env);
  const file = readFileConfig(values.CONFIG_FILE, readFile);
  problems.push(...(file.ok ? missingSkills(file, readFile) : file.problems));
  if (problems.length > 0 || !file.ok) return { ok: false, problems, warnings };
  return {
    ok: true,
    warnings,
    config: {
      host: values.HOST,
      port: values.PORT,
      publicUrl: values.PUBLIC_URL ?? null,
      dataDir: values.DATA_DIR,
      apiKey: values.AGENT_API_KEY ?? null,
      ...readEmbedded(values),
      offer: file.service,
      logLevel: values.LOG_LEVEL,
    },
  };
}

/** Every secret of the configuration, for the log to strike out. */
export const standaloneSecrets = ({ apiKey, offer }: StandaloneConfig): string[] =>
  telling([...secretsOfOffer(offer), ...(apiKey === null ? [] : [apiKey])]);
