import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { keptKey } from "#process/life.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";

const module = pathToFileURL(join(import.meta.dirname, "../../src/process/life.ts")).href;

const keyFile = (folder: string): string => join(folder, "embedded-service-key");

/** Requests the key in several worker threads at the same moment. */
async function keysOfFirstStarts(path: string, starts: number): Promise<readonly string[]> {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    void import(workerData.module).then(({ keptKey }) => {
      Atomics.add(workerData.gate, 0, 1);
      Atomics.notify(workerData.gate, 0);
      while (Atomics.load(workerData.gate, 0) < workerData.starts);
      parentPort.postMessage(keptKey(workerData.path));
    });`;
  return Promise.all(
    Array.from({ length: starts }, () => {
      const worker = new Worker(code, { eval: true, workerData: { module, gate, starts, path } });
      return new Promise<string>((resolve, reject) => {
        worker.once("message", resolve).once("error", reject);
      });
    }),
  );
}

test("processes that start for the first time at once all use the saved key", async () => {
  for (let round = 0; round < 5; round++) {
    const dataDir = await freshFolder();
    const keys = await keysOfFirstStarts(keyFile(dataDir), 2);
    const kept = (await readFile(keyFile(dataDir), "utf8")).trim();
    expect(new Set(keys)).toEqual(new Set([kept]));
    expect(await readdir(dataDir)).toEqual(["embedded-service-key"]);
  }
});

test("an existing key is kept, and an empty file gets one that only its owner can read", async () => {
  const dataDir = await freshFolder();
  await writeFile(keyFile(dataDir), "\n");
  const key = keptKey(keyFile(dataDir));
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(keptKey(keyFile(dataDir))).toBe(key);
  if (process.platform !== "win32") expect((await stat(keyFile(dataDir))).mode & 0o777).toBe(0o600);
});
