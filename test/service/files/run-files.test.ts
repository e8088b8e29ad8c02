import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { gitEnvironment, inApp, offering, repository } from "#test/support/service/git-repository.ts";
import { serving } from "#test/support/service/serving.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("the agent gets the request's attachments as files, with their paths at the end of each turn's input", async () => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: 'cat "$AGENT_ATTACHMENTS/a note.txt"; ls "$AGENT_ATTACHMENTS"; git status --short; cat',
    catalog: offering({ repository: path }),
  });
  const id = await api.create({
    ...inApp("Read them."),
    attachments: [
      { file_name: "a note.txt", mime_type: "text/plain", data: base64("a note\n") },
      { file_name: "-rf", mime_type: "image/png", data: base64("png") },
    ],
  });
  await api.until(id, "SUCCEEDED");
  const kept = join(folder, "service", "attachments", id);
  const list = `Files of the request:\n- ${kept}/a note.txt (text/plain)\n- ${kept}/-rf (image/png)`;
  expect((await api.said(id)).at(-1)).toBe(`assistant: a note\n-rf\na note.txt\nRead them.\n\n${list}`);
  await api.followUp(id, "Again.");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)?.endsWith(`Again.\n\n${list}`)).toBe(true);
});

test("a run without attachments has no attachments folder", async () => {
  const { api } = await serving({ command: 'test -z "$AGENT_ATTACHMENTS" && echo "[none]"; cat' });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: [none]\nx");
});

test("files in the artifacts folder become artifacts of the run; links are not followed", async () => {
  const { api } = await serving({
    command:
      'cd "$AGENT_ARTIFACTS"; mkdir -p deep; echo "# Report" > report.md; head -c 300 /dev/zero > deep/image.PNG; ' +
      "ln -sf /etc/passwd link.txt; ln -sfn /etc linked; mkfifo pipe 2>/dev/null; echo done",
  });
  const id = await api.create({ prompt: "x" });
  const run = await api.until(id, "SUCCEEDED");
  const file = (filename: string, filepath: string, mime_type: string, size_bytes: number) => ({
    artifact_type: "FILE",
    created_at: expect.any(String),
    data: {
      artifact_uid: expect.any(String),
      filename,
      filepath,
      mime_type,
      size_bytes,
    },
  });
  expect(run.artifacts).toEqual([
    file("image.PNG", "deep/image.PNG", "image/png", 300),
    file("report.md", "report.md", "text/markdown", 9),
  ]);
});

test("an artifact that a later turn changes keeps its id, and a removed one disappears", async () => {
  const { api } = await serving({
    command:
      'cd "$AGENT_ARTIFACTS"; if test -e a.txt; then echo longer >> a.txt; rm b.txt; else echo a > a.txt; echo b > b.txt; fi',
  });
  const id = await api.create({ prompt: "x" });
  const first = await api.until(id, "SUCCEEDED");
  await api.followUp(id, "again");
  const second = await eventually("the second turn's artifacts", async () => {
    const run = await api.run(id);
    return run.artifacts?.length === 1 ? run : null;
  });
  expect(second.artifacts?.[0]?.data).toEqual({ ...first.artifacts?.[0]?.data, size_bytes: 9 });
});

test("the number of artifact files is limited", async () => {
  const { api } = await serving({
    command:
      'cd "$AGENT_ARTIFACTS"; for i in $(seq 1 300); do : > file-$i; done; echo https://github.com/o/a/pull/1',
  });
  const run = await api.until(await api.create({ prompt: "x" }), "SUCCEEDED");
  expect(run.artifacts?.map(({ artifact_type }) => artifact_type)).toEqual([
    "PULL_REQUEST",
    ...Array.from({ length: 50 }, () => "FILE"),
  ]);
});

test.runIf(process.platform === "linux")(
  "a file whose name is not valid UTF-8 does not hide other files",
  async () => {
    const { api } = await serving({
      command: String.raw`cd "$AGENT_ARTIFACTS"; echo a > a.txt; : > "$(printf 'a\351b')"; echo b > b.txt; ls | wc -l`,
    });
    const id = await api.create({ prompt: "x" });
    const run = await api.until(id, "SUCCEEDED");
    expect((await api.said(id)).at(-1)).toBe("assistant: 3");
    expect(run.artifacts?.map(({ data }) => data)).toMatchObject([
      { filename: "a.txt" },
      { filename: "b.txt" },
    ]);
  },
);

test("an agent may remove its artifacts folder or replace it with a link", async () => {
  const { api } = await serving({
    command:
      'read how; rmdir "$AGENT_ARTIFACTS"; test $how = gone || ln -s /etc "$AGENT_ARTIFACTS"; echo done',
  });
  for (const prompt of ["gone", "linked"]) {
    const id = await api.create({ prompt });
    const run = await api.until(id, "SUCCEEDED");
    expect(run.artifacts).toEqual([]);
    expect((await api.said(id)).at(-1)).toBe("assistant: done");
  }
});

test("an agent's output is on disk, within a limit, until the turn's end is saved", async () => {
  const { api, folder } = await serving({
    command: `node -e 'process.stdout.write("x".repeat(3e6) + "the end")'; while ! test -e ../go; do sleep 0.02; done`,
  });
  const id = await api.create({ prompt: "x" });
  const path = join(folder, "service", "output", `${id}.1`);
  const written = async (): Promise<string> => {
    const parts = [`${path}.before`, path].map((each) => readFile(each, "utf8").catch(() => ""));
    return (await Promise.all(parts)).join("");
  };
  await eventually("the end on disk", async () => (await written()).endsWith("the end"));
  expect((await written()).length).toBeLessThan(1_600_000);
  await api.cancel(id);
  await eventually("the file to be removed", () =>
    access(path).then(
      () => null,
      () => true,
    ),
  );
  expect((await api.said(id)).at(-1)?.endsWith("the end")).toBe(true);
});
