import { expect, test } from "vitest";
import { vendorLog } from "#slack/web-client.ts";
import { recordingLog } from "#test/support/logs.ts";

test("log lines of Slack's packages are marked as theirs", () => {
  const { log, lines } = recordingLog();
  vendorLog(log).warn("http request failed", new Error("fetch failed"));
  expect(JSON.stringify(lines)).toContain("Slack's client: http request failed fetch failed");
});
