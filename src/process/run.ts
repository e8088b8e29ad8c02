/** Runs the bot or the service, from reading its configuration to its exit. */
import pino from "pino";
import type { Log } from "#base/log.ts";
import type { Reading } from "#config/read-config.ts";
import type { Given, ReadFile } from "#ports.ts";
import { prepareFolder, whyNot } from "./folders.ts";
import { loadEnvironmentFile, readText, refuse, stopOnSignal } from "./life.ts";
import { createLog } from "./log.ts";

/** A started program. */
export interface Started {
  /** Where it listens. */
  readonly url: string;
  /** Names of the platforms that still connect, so that nothing is received from them yet. */
  readonly connecting?: readonly string[];
  /** Number of effects that wait for each platform that is not set up, by its name. */
  readonly held?: ReadonlyMap<string, number>;
  /** What can't be read back of the time while the bot was away, in sentences, by the platform's name. */
  readonly gaps?: ReadonlyMap<string, readonly string[]>;
  stop(): Promise<void>;
}

/** A program to run; `C` is its configuration. */
export interface Program<C> {
  /** Its name at the start of a sentence, such as `The bot`. */
  readonly subject: string;
  /** The npm script that starts it. */
  readonly script: string;
  read(environment: Given, readFile: ReadFile): Reading<C>;
  secretsOf(config: C): string[];
  /** Returns the folders that must be writable, by the names of their settings. */
  foldersOf(config: C): Readonly<Record<string, string>>;
  /** Starts it. Secrets made during the start are added to `secrets`, so that the log redacts them. */
  start(config: C, secrets: string[], log: Log): Promise<Started>;
  /** Returns the text to print once it has started. */
  greeting(config: C, started: Omit<Started, "stop">): string;
}

/** Runs the program until a signal stops it; ends the process with status 1 and a reason if it can't start. */
export async function run<C extends { readonly logLevel: string }>(
  program: Program<C>,
  environment: Given,
): Promise<void> {
  const { subject } = program;
  loadEnvironmentFile();
  const reading = program.read(environment, readText);
  if (!reading.ok) return refuse([...reading.problems, ...reading.warnings]);
  const { config, warnings } = reading;
  const secrets = program.secretsOf(config);
  const log = createLog({ level: config.logLevel, secrets, to: pino.destination({ fd: 2, sync: true }) });
  for (const warning of warnings) log.warn(warning);
  for (const [setting, path] of Object.entries(program.foldersOf(config))) {
    const problem = prepareFolder(setting, path);
    if (problem !== null) return refuse([problem]);
  }
  const starting = program.start(config, secrets, log);
  stopOnSignal(subject, starting, { log, byNpm: environment.npm_lifecycle_event === program.script });
  try {
    const started = await starting;
    process.stdout.write(program.greeting(config, started));
    log.info(`${subject} has started`, { url: started.url, pid: process.pid });
  } catch (error) {
    log.debug(`${subject} could not start`, { error });
    refuse([whyNot(subject, error)]);
  }
}
