import { expect, test } from "vitest";
import { vendorLog } from "#slack/web-client.ts";
import { recordingLog } from "#test/support/logs.ts";

test("what Slack's packages log is told as theirs, since their words don't say whose they are", () => {
  const { log, lines } = recordingLog();
  vendorLog(log).warn("http request failed", new Error("fetch failed"));
  expect(JSON.stringify(lines)).toContain("Slack's client: http request failed fetch failed");
});
