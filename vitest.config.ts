import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Stories start real servers and processes; a busy two-core machine needs the slack.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
