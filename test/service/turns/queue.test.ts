import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { problemOf, serving } from "#test/support/service/serving.ts";

const held = "cat; while ! test -e ../go; do sleep 0.02; done";

test("a full queue refuses new runs until there is room", async () => {
  const { api, folder } = await serving({ command: held, maxRuns: 1, maxQueued: 2 });
  const first = await api.create({ prompt: "first" });
  await api.until(first, "INPROGRESS");
  const answers = await Promise.all(
    ["a", "b", "c", "d"].map((prompt) => api.send("POST", "/agent/run", { prompt })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
  const turnedAway = answers.find(({ status }) => status === 429);
  if (turnedAway === undefined) throw new Error("nobody was turned away");
  expect(turnedAway.headers.get("retry-after")).toBe("30");
  expect(await problemOf(Promise.resolve(turnedAway))).toMatchObject({
    type: expect.stringContaining("resource_unavailable"),
    retryable: true,
  });
  const { runs } = await api.list("");
  expect(runs).toHaveLength(3);

  // Existing runs may continue even if the queue is full.
  await api.followUp(first, "more");
  await writeFile(join(folder, "work", "go"), "");
  for (const { run_id } of runs) await api.until(run_id, "SUCCEEDED");
  await api.until(await api.create({ prompt: "again" }), "SUCCEEDED");
});

test("the response says when a run was created at capacity, and a refused run takes no room", async () => {
  const { api, folder } = await serving({ command: held, maxRuns: 1, maxQueued: 1 });
  const create = async (prompt: string) => {
    const answer = await api.send("POST", "/agent/run", { prompt });
    return { status: answer.status, body: await answer.json() };
  };
  const first = await create("first");
  expect(first.body).toMatchObject({ at_capacity: false });
  await api.until(first.body.run_id, "INPROGRESS");
  expect((await create("")).status).toBe(400);
  expect((await create("second")).body).toMatchObject({ state: "QUEUED", at_capacity: true });
  expect((await create("third")).status).toBe(429);
  await writeFile(join(folder, "work", "go"), "");
});
