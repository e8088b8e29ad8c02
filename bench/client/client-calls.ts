/** Makes the same calls with our client and the official SDK, in turn, and prints the calls per second. */
import OzAPI from "oz-agent-sdk";
import { createAgentRunsClient } from "#agent-runs/client.ts";
import { median } from "#bench/world/figures.ts";
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();
const baseUrl = process.argv[2] ?? "";
const apiKey = "wk-0123456789-bench";
const ours = createAgentRunsClient({ baseUrl, apiKey });
const sdk = new OzAPI({ baseURL: baseUrl, apiKey });
const run = { prompt: "fix the flaky test", config: { name: "agent-runs-bot" } };

interface Kind {
  readonly name: string;
  readonly atOnce: number;
  /** Calls of a round. */
  readonly calls: number;
  readonly ours: () => Promise<unknown>;
  readonly sdk: () => Promise<unknown>;
}

const fetchOne = { ours: () => ours.fetch("run-1"), sdk: () => sdk.agent.runs.retrieve("run-1") };
const kinds: readonly Kind[] = [
  { name: "fetch", atOnce: 1, calls: 1_000, ...fetchOne },
  { name: "fetch", atOnce: 16, calls: 1_500, ...fetchOne },
  {
    name: "list",
    atOnce: 16,
    calls: 250,
    ours: () => ours.list({ limit: 100 }),
    sdk: () => sdk.agent.runs.list({ limit: 100 }),
  },
  { name: "create", atOnce: 16, calls: 1_500, ours: () => ours.create(run), sdk: () => sdk.agent.run(run) },
];
const rounds = 15;

/** Calls a second. */
async function roundOf({ calls, atOnce }: Kind, call: () => Promise<unknown>): Promise<number> {
  let left = calls;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: atOnce }, caller));
  return calls / ((performance.now() - started) / 1_000);
}

for (const kind of kinds) {
  // The first calls warm up the code and open the connections.
  for (const call of [kind.ours, kind.sdk, kind.ours, kind.sdk]) await roundOf(kind, call);
  const all: { ours: number; sdk: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The second client collects the first one's garbage, so they take turns in going first.
    const first = round % 2 === 0 ? "ours" : "sdk";
    const second = first === "ours" ? "sdk" : "ours";
    const measured = { ours: 0, sdk: 0 };
    measured[first] = await roundOf(kind, kind[first]);
    measured[second] = await roundOf(kind, kind[second]);
    all.push(measured);
  }
  const [a, b] = [median(all.map((each) => each.ours)), median(all.map((each) => each.sdk))];
  const times = median(all.map((each) => each.ours / each.sdk));
  process.stdout.write(
    `${kind.name} ${kind.atOnce} ours ${a.toFixed(0)} sdk ${b.toFixed(0)} times ${times.toFixed(3)}\n`,
  );
}
process.stdout.write("done\n");
process.exit(0);
