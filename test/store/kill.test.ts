import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { newFolder, open } from "./open-folder.ts";
import { ids, memoryLog, see } from "./threads.ts";

const script = join(import.meta.dirname, "acknowledging-writer.ts");

/** Kills a writing process with -9 after so many acknowledged changes; returns all acknowledged ones. */
async function writeAndKill(folder: string, from: number, changes: number): Promise<number[]> {
  const child = spawn(process.execPath, [script, folder, String(from)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const acknowledged: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== "") acknowledged.push(Number(line));
    if (acknowledged.length === changes) child.kill("SIGKILL");
  }
  expect(await exited).toEqual([null, "SIGKILL"]);
  return acknowledged;
}

test("kill -9 during writes loses no acknowledged change", async () => {
  const folder = await newFolder();
  const acknowledged: number[] = [];
  for (const changes of [1, 3, 10, 27, 40, 64, 90, 121]) {
    acknowledged.push(...(await writeAndKill(folder, Math.max(0, ...acknowledged) + 10, changes)));
    const { log, lines } = memoryLog();
    // The lock ended with the process, so opening succeeds.
    const store = await open(folder, { log });
    const seen = new Set<string>();
    const unsettled: string[] = [];
    for (let number = 0; number < 7; number += 1) {
      const thread = await store.find(`t${number}`);
      for (const event of thread?.seen ?? []) seen.add(event);
      if (thread?.runs.some((run) => run.open)) unsettled.push(thread.id);
      for (const run of thread?.runs ?? [])
        expect((await store.find(`run:${run.runId}`))?.id).toBe(thread?.id);
    }
    expect(acknowledged.filter((step) => !seen.has(String(step)))).toEqual([]);
    expect(await ids(store.unsettled())).toEqual(unsettled);
    expect(lines).toEqual([]);
    expect(await see(store, "after", "e")).toBeGreaterThan(0);
    await store.close();
  }
});
