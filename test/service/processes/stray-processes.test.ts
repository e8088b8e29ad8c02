import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { alive } from "#test/support/processes.ts";
import { childServing } from "#test/support/service/child-serving.ts";
import { offering } from "#test/support/service/git-repository.ts";
import { serving } from "#test/support/service/serving.ts";

const onLinux = test.runIf(process.platform === "linux");

/** Starts a process in its own session that writes its id into the file and ignores SIGTERM. */
const leaves = (file: string): string => {
  const script = `trap "" TERM; echo $$ > ${file}.new; mv ${file}.new ${file}; while :; do sleep 0.1; done`;
  const options = '{detached: true, stdio: "ignore"}';
  const program = `require("node:child_process").spawn("sh", ["-c", ${JSON.stringify(script)}], ${options}).unref()`;
  return `"${process.execPath}" -e '${program}'; until test -e ${file}; do sleep 0.02; done`;
};

/** The id of the process that wrote it there. The process is ended after the test. */
async function left(path: string): Promise<number> {
  const text = () => readFile(path, "utf8").catch(() => "");
  const pid = Number(await eventually(path, async () => (await text()).trim() || null));
  onTestFinished(() => {
    if (alive(pid)) process.kill(pid, "SIGKILL");
  });
  return pid;
}

onLinux("what a command leaves in a session of its own ends with the turn", async () => {
  const { api, folder } = await serving({ command: `${leaves("../stray")}; echo done` });
  const id = await api.create({ prompt: "x" });
  const stray = await left(join(folder, "work", "stray"));
  await api.until(id, "SUCCEEDED");
  expect(alive(stray)).toBe(false);
});

onLinux("a cancelled run ends what it has running in a session of its own", async () => {
  const { api, folder } = await serving({ command: `${leaves("../stray")}; sleep 300` });
  const id = await api.create({ prompt: "x" });
  const stray = await left(join(folder, "work", "stray"));
  await api.cancel(id);
  await eventually("its end", () => !alive(stray));
});

onLinux("one run's end leaves other runs' processes alone, and what is told to stay", async () => {
  const command = `case "$(cat)" in
    other) ${leaves("../other")}; sleep 300;;
    *) unset AGENT_TURN; ${leaves("../kept")};;
  esac`;
  const { api, folder } = await serving({ command, maxRuns: 2 });
  const other = await api.create({ prompt: "other" });
  const othersStray = await left(join(folder, "work", "other"));
  const id = await api.create({ prompt: "x" });
  const kept = await left(join(folder, "work", "kept"));
  await api.until(id, "SUCCEEDED");
  expect(alive(kept)).toBe(true);
  expect(alive(othersStray)).toBe(true);
  await api.cancel(other);
  await eventually("its end", () => !alive(othersStray));
});

onLinux("a service that the set-up starts is there for the agent, and stays", async () => {
  const { api, folder } = await serving({
    command: "cat > /dev/null; kill -0 $(cat ../daemon) && echo it runs",
    catalog: offering({ setup: [leaves("../daemon")] }),
    // As if an agent had started the service.
    environment: { PATH: process.env.PATH, AGENT_TURN: "1" },
  });
  const id = await api.create({ prompt: "x", config: { environment_id: "app" } });
  const daemon = await left(join(folder, "work", "daemon"));
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: it runs");
  expect(alive(daemon)).toBe(true);
});

onLinux("after kill -9 of the service what had left its group is ended too", async () => {
  const folder = await freshFolder();
  const before = await childServing(folder, `${leaves("../stray")}; sleep 300`);
  const id = await before.api.create({ prompt: "x" });
  const stray = await left(join(folder, "work", "stray"));
  await before.killed();
  expect(alive(stray)).toBe(true);
  const { api } = await serving({ folder, command: "cat" });
  expect((await api.run(id)).state).toBe("ERROR");
  expect(alive(stray)).toBe(false);
});
