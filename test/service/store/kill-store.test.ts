import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { apiAt, freshFolder } from "#test/support/service/serving.ts";
import { documentOf, everything, idsOn, openStore } from "#test/support/service/stored-runs.ts";

/** The service in a process of its own, to be killed whenever. */
function childServing(folder: string) {
  const script = fileURLToPath(new URL("../../support/service/serving-process.ts", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, folder, "sleep 300"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  onTestFinished(kill);
  return {
    kill,
    address: () => eventually("the child's address", () => /^http:\S+$/m.exec(said)?.[0] ?? null),
  };
}

test("what was acknowledged of many requests at once outlives kill -9, each once and whole", async () => {
  const folder = await freshFolder();
  const created = new Map<string, string>();
  const steered = new Map<string, string>();
  for (const acknowledged of [60, 5, 30]) {
    const child = childServing(folder);
    const before = steered.size;
    const api = apiAt(await child.address());
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
    await eventually("the acknowledgements", () => (steered.size >= before + acknowledged ? true : null));
    await child.kill();
    over = true;
    await everybody;
  }

  const runs = await openStore({ folder: join(folder, "service") });
  const ids = await idsOn(runs, { ...everything, limit: 500 });
  expect(new Set(ids).size).toBe(ids.length);
  const found = new Map<string, string>();
  for (const id of ids) {
    const document = await runs.read(id);
    if (document === null) throw new Error(`${id} is listed and not there`);
    found.set(id, document.run.prompt);
    const said = [...document.said, ...document.waiting].map(({ text }) => text);
    // What was not acknowledged may be there all the same, once.
    const times = said.filter((text) => text === `and ${document.run.prompt}`).length;
    expect([steered.has(id) ? 1 : 0, 1]).toContain(times);
  }
  for (const [id, prompt] of created) expect(found.get(id)).toBe(prompt);
  expect(new Set(found.values()).size).toBe(found.size);
});

test("an import that is killed loses nothing and repeats nothing", async () => {
  const folder = await freshFolder();
  const former = join(folder, "service", "runs");
  await mkdir(former, { recursive: true });
  const many = 2_000;
  for (let order = 1; order <= many; order += 1) {
    const document = documentOf(order, { prompt: `prompt ${order}` }, { state: "SUCCEEDED" });
    await writeFile(join(former, `${document.run.id}.json`), JSON.stringify(document));
  }
  for (const killAfterMs of [250, 300, 350]) {
    const child = childServing(folder);
    await sleep(killAfterMs);
    await child.kill();
  }
  const child = childServing(folder);
  await child.address();
  await child.kill();
  expect(await readdir(join(folder, "service"))).not.toContain("runs");
  const runs = await openStore({ folder: join(folder, "service") });
  const ids = await idsOn(runs, { ...everything, limit: 500, sort_by: "created_at", sort_order: "asc" });
  expect(ids).toEqual(Array.from({ length: many }, (_, at) => `run-${at + 1}`));
});
