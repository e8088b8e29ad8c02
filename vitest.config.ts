import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The file for the results as JSON. .ci/run sets it to count the tests. */
const results = process.env.TEST_RESULTS;

/** The longest files, longest first. They start before all others, so that no worker is left with one at the end. */
const longest = [
  "test/simulation/hour.test.ts",
  "test/kill/kill.test.ts",
  "test/simulation/simulation.test.ts",
  "test/scenarios/missed.test.ts",
  "test/kill/disk.test.ts",
  "test/sandbox/demo.test.ts",
  "test/hostile/requests.test.ts",
  "test/kill/stop.test.ts",
  "test/scenarios/restarts.test.ts",
  "test/slack/away.test.ts",
  "test/scenarios/platforms.test.ts",
  "test/scenarios/outages.test.ts",
  "test/process/no-deaf-moment.test.ts",
  "test/service/store/run-list.test.ts",
  "test/process/start-up.test.ts",
  "test/github/conversation.test.ts",
  "test/process/standalone.test.ts",
  "test/scenarios/trouble.test.ts",
  "test/process/held.test.ts",
  "test/slack/send/once.test.ts",
  "test/process/stop.test.ts",
  "test/service/files/worktrees.test.ts",
  "test/service/files/environments.test.ts",
  "test/service/files/kill-environments.test.ts",
  "test/slack/receive/socket.test.ts",
  "test/hostile/output.test.ts",
  "test/github/read/missed-deliveries.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.indexOf(relative(import.meta.dirname, moduleId));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((one, two) => rank(one) - rank(two));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Files share their worker's modules: a new worker for each takes longer than most of the files.
    isolate: false,
    // The long files mostly wait for processes and timers, so there are more workers than cores.
    maxWorkers: availableParallelism() + 1,
    maxConcurrency: 4,
    // Scenarios start real servers and processes, which takes a while on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 100_000 } },
    sequence: { sequencer: LongestFirst },
    reporters: results ? ["default", ["json", { outputFile: results }]] : ["default"],
  },
});
