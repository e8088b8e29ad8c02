import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, problemOf, type Serving, serving } from "./serving.ts";

/** Takes the folder of the documents away, and gives it back. */
async function withoutDisk(folder: string, work: () => Promise<void>): Promise<void> {
  const runs = join(folder, "service", "runs");
  await rename(runs, `${runs}.away`);
  await work();
  await rename(`${runs}.away`, runs);
}

const states = async ({ api }: Serving): Promise<string[]> =>
  (await api.list("")).runs.map(({ state }) => state);

test("what can't be saved is refused as retryable, and nobody sees it", async () => {
  const it = await serving({ demoStepMs: 600_000 });
  const id = await it.api.create({ prompt: "before" });
  const before = await it.api.run(id);
  await withoutDisk(it.folder, async () => {
    const refusal = { http: 500, type: expect.stringMatching(/\/internal_error$/), retryable: true };
    expect(await problemOf(it.api.send("POST", "/agent/run", { prompt: "x" }))).toMatchObject(refusal);
    expect(await problemOf(it.api.send("POST", `/agent/runs/${id}/cancel`))).toMatchObject(refusal);
    expect(
      await problemOf(it.api.send("POST", `/agent/runs/${id}/followups`, { message: "x" })),
    ).toMatchObject(refusal);
    expect(await problemOf(it.api.send("GET", `/agent/runs/${id}/conversation`))).toMatchObject(refusal);
  });
  expect(await states(it)).toEqual(["QUEUED"]);
  expect(await it.api.run(id)).toEqual(before);
  expect(await it.api.said(id)).toEqual(["user: before"]);
});

test("an end that can't be saved at first is saved when it can be", async () => {
  const { api, folder, lines } = await serving({
    command: "echo done; while ! test -e ../go; do sleep 0.02; done",
  });
  const id = await api.create({ prompt: "x" });
  await eventually(async () => ((await api.said(id)).length === 2 ? true : null), "the command's words");
  await withoutDisk(folder, async () => {
    await writeFile(join(folder, "work", "go"), "");
    await eventually(
      () => (lines.some(({ message }) => message === "a run's change could not be saved") ? true : null),
      "the failed try",
    );
    expect((await api.run(id)).state).toBe("INPROGRESS");
  });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: done");
});
