import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { childServing } from "#test/support/service/child-serving.ts";
import { apiKey } from "#test/support/service/serving.ts";
import { startServiceProcess } from "#test/support/service/start-service.ts";
import { documentOf, everything, idsOn, openStore } from "#test/support/service/stored-runs.ts";

test("after kill -9 under load, each acknowledged request is stored once and completely", async () => {
  const folder = await freshFolder();
  const created = new Map<string, string>();
  const steered = new Map<string, string>();
  for (const acknowledged of [60, 5, 30]) {
    const { api, killed } = await childServing(folder, "sleep 300");
    const before = steered.size;
    let over = false;
    const work = async (person: number): Promise<void> => {
      for (let n = 0; !over; n += 1) {
        const prompt = `${acknowledged}/${person}/${n} ${"word ".repeat(n * 50)}`;
        try {
          const id = await api.create({ prompt });
          created.set(id, prompt);
          await api.followUp(id, `and ${prompt}`);
          steered.set(id, `and ${prompt}`);
        } catch {
          return;
        }
      }
    };
    const everybody = Promise.all(Array.from({ length: 16 }, (_, person) => work(person)));
    await eventually("the acknowledgements", () => steered.size >= before + acknowledged);
    await killed();
    over = true;
    await everybody;
  }

  const runs = await openStore({ folder: join(folder, "service") });
  const ids = await idsOn(runs, { ...everything, limit: 500 });
  expect(new Set(ids).size).toBe(ids.length);
  const found = new Map<string, string>();
  for (const id of ids) {
    const document = await runs.read(id);
    if (document === null) throw new Error(`${id} is listed but can't be read`);
    found.set(id, document.run.prompt);
    const said = [...document.said, ...document.waiting].map(({ text }) => text);
    // A follow-up without an acknowledgement may have been stored, once.
    const times = said.filter((text) => text === `and ${document.run.prompt}`).length;
    expect([steered.has(id) ? 1 : 0, 1]).toContain(times);
  }
  for (const [id, prompt] of created) expect(found.get(id)).toBe(prompt);
  expect(new Set(found.values()).size).toBe(found.size);
});

test("an import that is killed repeatedly loses and duplicates nothing", async () => {
  const folder = await freshFolder();
  const former = join(folder, "service", "runs");
  await mkdir(former, { recursive: true });
  const many = 2_000;
  for (let order = 1; order <= many; order += 1) {
    const document = documentOf(order, { prompt: `prompt ${order}` }, { state: "SUCCEEDED" });
    await writeFile(join(former, `${document.run.id}.json`), JSON.stringify(document));
  }
  for (const killAfterMs of [250, 300, 350]) {
    const child = startServiceProcess({ folder, command: "sleep 300", apiKey });
    await sleep(killAfterMs);
    await child.end("SIGKILL");
  }
  await (await childServing(folder, "sleep 300")).killed();
  expect(await readdir(join(folder, "service"))).not.toContain("runs");
  const runs = await openStore({ folder: join(folder, "service") });
  const ids = await idsOn(runs, { ...everything, limit: 500, sort_by: "created_at", sort_order: "asc" });
  expect(ids).toEqual(Array.from({ length: many }, (_, at) => `run-${at + 1}`));
});
