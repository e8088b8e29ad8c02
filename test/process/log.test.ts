import { expect, test } from "vitest";
import { createLog } from "#process/log.ts";

function recording(level: string, secrets: readonly string[] = []) {
  const lines: string[] = [];
  const log = createLog({ level, secrets, to: { write: (line) => lines.push(line) } });
  return { log, lines, entry: () => JSON.parse(lines.at(-1) ?? "null") };
}

test("an entry is one line of JSON with its time, level, message and fields", () => {
  const { log, lines, entry } = recording("info");
  log.warn("The API does not answer", { tries: 2 });
  expect(lines).toHaveLength(1);
  expect(entry()).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    msg: "The API does not answer",
    tries: 2,
  });
});

test("entries below the level are left out", () => {
  const { log, lines } = recording("warn");
  log.info("quiet");
  log.debug("quieter");
  expect(lines).toEqual([]);
});

test("a secret is redacted wherever it appears", () => {
  const key = '-----BEGIN PRIVATE KEY-----\nabc"def\n-----END PRIVATE KEY-----';
  const { log, lines } = recording("info", ["xoxb-secret-1", key]);
  const error = new Error("401 for Bearer xoxb-secret-1", { cause: new Error(key) });
  log.error("Sending with xoxb-secret-1 failed", { error, deep: { headers: { value: ["xoxb-secret-1"] } } });
  expect(lines.join()).not.toMatch(/xoxb-secret-1|abc/);
  expect(lines.join()).toContain("401 for Bearer [secret]");
});

test("fields that are named like secrets are redacted, whatever their values", () => {
  const { log, lines } = recording("info");
  log.info("Asked", { token: "t-1", request: { authorization: "t-2", headers: { cookie: "t-3" } } });
  expect(lines.join()).not.toMatch(/t-\d/);
});

test("an error is logged with its message, stack and cause, without what a client attached to it", () => {
  const { log, lines, entry } = recording("info");
  const cause = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
  const error = Object.assign(new Error("fetch failed", { cause }), {
    config: { headers: { x: "hidden-1" } },
  });
  log.error("No answer", { error });
  expect(entry().error).toMatchObject({
    name: "Error",
    message: "fetch failed",
    stack: expect.stringContaining("log.test.ts"),
    cause: { message: "connection refused", code: "ECONNREFUSED" },
  });
  expect(lines.join()).not.toContain("hidden-1");
});
