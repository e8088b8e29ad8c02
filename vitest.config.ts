import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Set where the tests are counted, as in .ci/run: the file that the results are written to, as JSON.
const results = process.env.TEST_RESULTS;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Many tests wait for processes most of the time, so that even two cores have room for two at once.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Stories start real servers and processes; a busy two-core machine needs the slack.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: results ? ["default", ["json", { outputFile: results }]] : ["default"],
  },
});
