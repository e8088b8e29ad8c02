import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { problemOf, type Serving, serving } from "#test/support/service/serving.ts";

/** Locks the runs' database, so that nothing can be written while `work` runs. */
async function withoutDisk(folder: string, work: () => Promise<void>): Promise<void> {
  const other = new DatabaseSync(join(folder, "service", "runs.db"), { timeout: 10_000 });
  other.exec("BEGIN IMMEDIATE");
  try {
    await work();
  } finally {
    other.close();
  }
}

const states = async ({ api }: Serving): Promise<string[]> =>
  (await api.list("")).runs.map(({ state }) => state);

test("requests that can't be saved are refused as retryable and change nothing", async () => {
  const it = await serving({ demoStepMs: 600_000 });
  const id = await it.api.create({ prompt: "before" });
  const before = await it.api.run(id);
  await withoutDisk(it.folder, async () => {
    const refusal = { http: 500, type: expect.stringMatching(/\/internal_error$/), retryable: true };
    const refusals = await Promise.all([
      problemOf(it.api.send("POST", "/agent/run", { prompt: "x" })),
      problemOf(it.api.send("POST", "/agent/run", { prompt: "y" })),
      problemOf(it.api.send("POST", `/agent/runs/${id}/cancel`)),
      problemOf(it.api.send("POST", `/agent/runs/${id}/followups`, { message: "x" })),
    ]);
    for (const each of refusals) expect(each).toMatchObject(refusal);
    // Reading still works.
    expect(await it.api.run(id)).toEqual(before);
    expect(await it.api.said(id)).toEqual(["user: before"]);
  });
  expect(await states(it)).toEqual(["QUEUED"]);
  expect(await it.api.run(id)).toEqual(before);
  expect(await it.api.said(id)).toEqual(["user: before"]);
  await it.api.followUp(id, "after");
  await it.api.create({ prompt: "after" });
  expect(await it.api.said(id)).toEqual(["user: before", "user: after"]);
  expect(await states(it)).toEqual(["QUEUED", "QUEUED"]);
});

test("the end of a run that can't be saved is saved as soon as it can be", async () => {
  const { api, folder, lines } = await serving({
    command: "echo done; while ! test -e ../go; do sleep 0.02; done",
  });
  const id = await api.create({ prompt: "x" });
  await eventually("the command's words", async () => (await api.said(id)).length === 2);
  await withoutDisk(folder, async () => {
    await writeFile(join(folder, "work", "go"), "");
    await eventually("the failed try", () =>
      lines.some(({ message }) => message === "a run's change could not be saved"),
    );
    expect((await api.run(id)).state).toBe("INPROGRESS");
  });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: done");
});
