import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { expect, test } from "vitest";
import { FolderInUse } from "#disk/folder-lock.ts";
import { openStore } from "#store/open-store.ts";
import { newFolder, open } from "./open-folder.ts";
import { memoryLog, see } from "./threads.ts";

const options = { log: memoryLog().log, now: Date.now };

test("a folder in use by another process is refused with its name, the process and a remedy", async () => {
  const folder = await newFolder();
  const script = join(import.meta.dirname, "acknowledging-writer.ts");
  const child = spawn(process.execPath, [script, folder, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  try {
    await once(createInterface({ input: child.stdout }), "line");
    const refusal = await openStore({ ...options, dataDir: folder }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(FolderInUse);
    expect(String(refusal)).toContain(folder);
    expect(String(refusal)).toContain(`process ${child.pid}.`);
    expect(String(refusal)).toContain("DATA_DIR");
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
  expect(await see(await open(folder), "after", "e")).toBe(1);
});

test("a second store in the same process is refused and does not release the first one's lock", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  for (let tries = 0; tries < 2; tries += 1) {
    await expect(openStore({ ...options, dataDir: folder })).rejects.toBeInstanceOf(FolderInUse);
  }
  const script = join(import.meta.dirname, "limited-writer.ts");
  const other = await execa(process.execPath, [script, folder], { reject: false });
  expect(other.exitCode).not.toBe(0);
  expect(other.stderr).toContain("FolderInUse");
  await first.close();
  expect(await see(await open(folder), "after", "e")).toBe(1);
});

test("opening prints nothing on standard error", async () => {
  const script = join(import.meta.dirname, "limited-writer.ts");
  const { stderr } = await execa(process.execPath, [script, await newFolder()]);
  expect(stderr).toBe("");
});
