/**
 * Measures the bot's promised speed beside baselines. It asserts nothing, and fails only if a measurement is
 * impossible.
 *
 *   npm run bench [-- [accept] [store] [poll] [ready] [backlog] [dispatch] [outage] [client] [service] [soak] [--dir <a folder on the disk to measure>]]
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { measureClient } from "#bench/client/client.ts";
import { measureService } from "#bench/service/service.ts";
import { measureStore } from "#bench/store/compare-store.ts";
import { type Figure, tableOf } from "#bench/world/figures.ts";
import { createGround, type Ground } from "#bench/world/ground.ts";
import { machineOf } from "#bench/world/machine.ts";
import { measureAccept } from "./accept.ts";
import { measureBacklog } from "./backlog.ts";
import { measureDispatch } from "./dispatch.ts";
import { measureOutage } from "./outage.ts";
import { measurePoll } from "./poll.ts";
import { measureReady } from "./ready.ts";
import { measureSoak } from "./soak.ts";

interface Part {
  readonly title: string;
  readonly measure: (ground: Ground) => Promise<readonly Figure[]>;
  /** Too slow to be measured each time. */
  readonly onlyNamed?: true;
}

const parts: Readonly<Record<string, Part>> = {
  accept: {
    title:
      "accept: from sending to the answer, at 50 a second, beside a bare handler; what follows is performed, at stand-ins that take 100 ms",
    measure: measureAccept,
  },
  store: {
    title: "store: a durable change of a thread and a new thread, beside node:sqlite (WAL, synchronous FULL)",
    measure: measureStore,
  },
  poll: {
    title: "poll: API requests and time of a tick, with 1,000 unfinished runs",
    measure: measurePoll,
  },
  ready: {
    title:
      "ready: until the bot listens, goes on and /readyz answers 200, with 100,000 settled and 1,000 unsettled threads",
    measure: measureReady,
  },
  backlog: {
    title:
      "backlog: what 1,000 of 10,000 threads ask for, accepted while everything outside was down, at stand-ins without rate limits",
    measure: measureBacklog,
  },
  dispatch: {
    title:
      "dispatch: from a command in Slack until the API gets the creation, at destinations that take 250 ms; and the most a second",
    measure: measureDispatch,
  },
  outage: {
    title:
      "outage: from sending to the answer, at 50 a second, while the API is down, beside the same while it is up",
    measure: measureOutage,
  },
  client: {
    title: "client: our client of the API beside the official SDK, oz-agent-sdk, at the same local server",
    measure: measureClient,
  },
  service: {
    title:
      "service: the embedded service with 100,000 runs stored, beside a bare handler of the same framework, in turns",
    measure: measureService,
    onlyNamed: true,
  },
  soak: {
    title: "soak: memory after ten times as many accepted events",
    measure: measureSoak,
    onlyNamed: true,
  },
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns false if the measurement failed. */
async function run({ title, measure }: Part, dir: string): Promise<boolean> {
  print(`\n${title}`);
  const started = performance.now();
  using ground = createGround(dir);
  try {
    for (const line of tableOf(await measure(ground))) print(`  ${line}`);
    print(`  (took ${Math.round((performance.now() - started) / 1000)} s)`);
    return true;
  } catch (error) {
    print(`  could not be measured: ${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}

const { values, positionals } = wanted();
const unknown = positionals.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(", ")}; choose of ${Object.keys(parts).join(", ")}.`);
  process.exit(1);
}
function wanted() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { dir: { type: "string", default: tmpdir() } },
    });
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    print("Usage: npm run bench -- [part …] [--dir FOLDER]");
    process.exit(1);
  }
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

print(`Command   npm run bench -- ${[...positionals, "--dir", values.dir].join(" ")}`);
for (const line of machineOf(values.dir)) print(line);
const chosen = Object.entries(parts).filter(([name, { onlyNamed }]) =>
  positionals.length === 0 ? !onlyNamed : positionals.includes(name),
);
for (const [, part] of chosen) {
  if (!(await run(part, values.dir))) process.exitCode = 1;
}
