import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { processesThat } from "#service/processes/process-table.ts";
import { createRunProcess } from "#service/processes/run-process.ts";
import { createStartedProcesses } from "#service/processes/started-processes.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { silentLog } from "#test/support/logs.ts";

const onLinux = test.runIf(process.platform === "linux");

onLinux("the end of a run's git or set-up ends nothing of an agent", async () => {
  const folder = await freshFolder();
  const run = createRunProcess(createStartedProcesses(folder, 500, silentLog), 500);
  const environment = { PATH: process.env.PATH ?? "" };
  const agent = spawn("sleep", ["60"], { env: { ...environment, AGENT_RUN_ID: "one", AGENT_TURN: "1" } });
  onTestFinished(() => void agent.kill("SIGKILL"));
  const wish = { runId: "one", command: { line: "true" }, folder, environment, input: "" };
  const hear = { stdout: () => undefined, stderr: () => undefined };
  expect(await run(wish, new AbortController().signal, hear)).toEqual({ kind: "exited", code: 0 });
  expect({ code: agent.exitCode, signal: agent.signalCode }).toEqual({ code: null, signal: null });
  const ofTurn = { ...wish, environment: { ...environment, AGENT_TURN: "1" } };
  await run(ofTurn, new AbortController().signal, hear);
  await expect.poll(() => agent.signalCode).toBe("SIGTERM");
});

onLinux("of very many processes some are looked at, at a time, and none is left out", async () => {
  const many = spawn("sh", ["-c", "for i in $(seq 100); do sleep 60 & done; echo started; wait"], {
    detached: true,
  });
  onTestFinished(() => {
    if (many.pid !== undefined) process.kill(-many.pid, "SIGKILL");
  });
  await new Promise((resolve) => many.stdout.once("data", resolve));
  let under = 0;
  let most = 0;
  const seen = await processesThat(async () => {
    most = Math.max(most, ++under);
    await sleep(1);
    under--;
    return true;
  });
  expect(seen?.length).toBeGreaterThan(100);
  expect(seen).toContain(process.pid);
  expect(most).toBeLessThan(100);
});
