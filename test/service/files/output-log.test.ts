import { mkdir, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOutputLog } from "#service/files/output-log.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";

/** The open files of this process in the folder. */
async function openIn(folder: string): Promise<string[]> {
  const numbers = await readdir("/proc/self/fd");
  const files = await Promise.all(numbers.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => "")));
  return files.filter((file) => file.startsWith(folder));
}

test("the log keeps the end of an output that is much longer than a file", async () => {
  const log = createOutputLog(join(await freshFolder(), "output"), 1_000);
  const output = await log.open("run", 1);
  for (let piece = 0; piece < 40; piece++) {
    output.add(`${String(piece).repeat(50_000)}\n`);
    if (piece % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  output.add("the end");
  await output.close();
  expect(await log.read("run", 1)).toMatch(/^\[The beginning is left out\.\]\n(39)+\nthe end$/);
});

test.runIf(process.platform === "linux")(
  "a closed log has no open file, however fast it was filled",
  async () => {
    const folder = join(await freshFolder(), "output");
    await mkdir(folder);
    const log = createOutputLog(folder, 1_000);
    const output = await log.open("run", 1);
    for (let piece = 0; piece < 4; piece++) output.add("x".repeat(500_000));
    await output.close();
    await log.remove("run", 1);
    // Leaves time for writes after the end.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(await openIn(folder)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  },
);
