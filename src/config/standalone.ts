import type { Given, ReadFile } from "#ports.ts";
import { missingSkills, readEmbedded } from "./api.ts";
import { distinctiveNames, type Environment, type Name, readEnvironment } from "./environment.ts";
import { misspelled } from "./misspelled.ts";
import { longEnough, type Reading } from "./read-config.ts";
import { readServiceFile, type ServiceOffer, secretsOfOffer } from "./service-section.ts";

/** The configuration of the standalone service. */
export interface StandaloneConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How callers reach the service, without a slash at its end; null: at the address where it listens. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  /** The key that callers must present; null: one is made once and kept. */
  readonly apiKey: string | null;
  /** null: none is set. */
  readonly command: string | null;
  readonly workDir: string;
  readonly maxRuns: number;
  readonly timeoutMs: number;
  readonly offer: ServiceOffer;
  readonly logLevel: Environment["LOG_LEVEL"];
}

/** The variables that the service reads. */
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

/** Reads the configuration of the service and reports everything that is wrong with it at once. */
export function readStandaloneConfig(environment: Given, readFile: ReadFile): Reading<StandaloneConfig> {
  const given = Object.fromEntries(read.map((name) => [name, environment[name]]));
  const { values, problems } = readEnvironment(given);
  const warnings = misspelled(environment, distinctiveNames([]));
  const file = readServiceFile(values.CONFIG_FILE, readFile);
  problems.push(...(file.ok ? missingSkills({ ...file, ...file.value }, readFile) : file.problems));
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
      offer: file.value.service,
      logLevel: values.LOG_LEVEL,
    },
  };
}

/** Returns every secret of the configuration, for the log to redact. */
export const standaloneSecrets = ({ apiKey, offer }: StandaloneConfig): string[] =>
  longEnough([...secretsOfOffer(offer), ...(apiKey === null ? [] : [apiKey])]);
