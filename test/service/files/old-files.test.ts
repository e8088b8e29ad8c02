/** Files of old runs are removed. */
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { serving } from "#test/support/service/serving.ts";

const names = async (path: string): Promise<string[]> => (await readdir(path).catch(() => [])).sort();

test("the folders of ended runs without an environment are removed, and no others", async () => {
  const command = "test -e notes.txt && echo again; echo x > notes.txt; cat";
  const folder = await freshFolder();
  const first = await serving({ folder, command: `${command}; test -e ../go || sleep 300`, maxRuns: 2 });
  const cut = await first.api.create({ prompt: "cut short" });
  await eventually("the agent's beginning", async () => (await names(join(folder, "work", cut))).length > 0);
  await first.api.cancel(cut);
  await writeFile(join(folder, "work", "go"), "");
  const ended = await first.api.create({ prompt: "one" });
  await first.api.until(ended, "SUCCEEDED");
  await mkdir(join(folder, "work", "somebody-elses"));
  await first.stop();
  const all = [cut, ended, "go", "somebody-elses"].sort();

  const kept = await serving({ folder, command, keepWorktreesMs: 3_600_000, keepFilesMs: 0 });
  await eventually(
    "the files' removal",
    async () => (await names(join(folder, "service", "artifacts"))).length === 0,
  );
  expect(await names(join(folder, "work"))).toEqual(all);
  await kept.stop();

  const { api } = await serving({ folder, command, keepWorktreesMs: 0 });
  await eventually("removal", async () => (await names(join(folder, "work"))).length === 2);
  expect(await names(join(folder, "work"))).toEqual(["go", "somebody-elses"]);
  await api.followUp(ended, "two");
  await api.until(ended, "SUCCEEDED");
  const answer = (await api.said(ended)).at(-1) ?? "";
  expect(answer).not.toContain("again");
  expect(answer).toContain("Note: The folder of the run's earlier turns is gone: this one is empty.");
});

test("a run's attachments and artifacts are removed long after its end, with a note to the agent", async () => {
  const command = 'echo "# Report" > "$AGENT_ARTIFACTS/report.md"; echo "[$AGENT_ATTACHMENTS]"; cat';
  const folder = await freshFolder();
  const first = await serving({ folder, command });
  const data = Buffer.from("a note").toString("base64");
  const id = await first.api.create({
    prompt: "Read it.",
    attachments: [{ file_name: "note.txt", mime_type: "text/plain", data }],
    config: { mcp_servers: { tracker: { url: "https://mcp.example.com/" } } },
  });
  await first.api.until(id, "SUCCEEDED");
  const kinds = ["artifacts", "attachments", "mcp"].map((kind) => join(folder, "service", kind));
  for (const kind of kinds) expect(await names(kind)).toHaveLength(1);
  await first.stop();

  const { api } = await serving({ folder, command, keepFilesMs: 0, keepWorktreesMs: 0 });
  for (const kind of kinds) {
    await eventually("the files' removal", async () => (await names(kind)).length === 0);
  }
  await api.followUp(id, "Again.");
  const run = await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(
    /^assistant: \[\]\n[\s\S]*Files of the request, which are no longer kept:\n- note\.txt \(text\/plain\)$/,
  );
  expect(run.artifacts?.map(({ data: file }) => file?.filename)).toContain("report.md");
});

test("files of unknown runs are removed according to their age", async () => {
  const folder = await freshFolder();
  const [old, young] = ["0", "1"].map((digit) => `01a00000-0000-7000-8000-00000000000${digit}`);
  const kept = join(folder, "service", "attachments");
  for (const name of [old, young]) await mkdir(join(kept, `${name}`), { recursive: true });
  const longAgo = Date.now() / 1000 - 91 * 24 * 3600;
  await utimes(join(kept, `${old}`), longAgo, longAgo);
  await serving({ folder, command: "cat" });
  await eventually("the old one's removal", async () => (await names(kept)).length === 1);
  expect(await names(kept)).toEqual([young]);
});
