import { once } from "node:events";
import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { prepareFolder, whyNot } from "#process/folders.ts";
import { startBot } from "#test/support/bot/start-bot.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";

async function aFile(): Promise<string> {
  const path = join(await freshFolder(), "file");
  await writeFile(path, "mine");
  return path;
}

test("a folder is made with its parents, for its owner alone, and may exist already", async () => {
  const path = join(await aFile(), "../one/two");
  expect(prepareFolder("DATA_DIR", path)).toBeNull();
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(prepareFolder("DATA_DIR", path)).toBeNull();
});

test("two processes that start at once can make the same new folder", async () => {
  const module = pathToFileURL(join(import.meta.dirname, "../../src/process/folders.ts")).href;
  const path = join(await aFile(), "..", ...Array.from({ length: 50 }, (_, depth) => `${depth}`));
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    void import(workerData.module).then(({ prepareFolder }) => {
      Atomics.add(workerData.gate, 0, 1);
      while (Atomics.load(workerData.gate, 0) < 2);
      parentPort.postMessage(prepareFolder("DATA_DIR", workerData.path));
    });`;
  const start = async (): Promise<unknown> => {
    const worker = new Worker(code, { eval: true, workerData: { module, gate, path } });
    const [told] = await once(worker, "message");
    return told;
  };
  expect(await Promise.all([start(), start()])).toEqual([null, null]);
});

test("a path that can't be a folder is refused at once, with its setting's name", async () => {
  const file = await aFile();
  for (const path of [file, join(file, "below"), "/dev/null/x", "/proc/x"]) {
    const told = prepareFolder("AGENT_WORK_DIR", path);
    expect(told).toMatch(
      /^AGENT_WORK_DIR \(.+\) can't be used: .+\. Set it to a folder that this account may write to\.$/,
    );
    expect(told).toContain(path);
  }
});

test("system errors become sentences, and our own stay unchanged", () => {
  const system = Object.assign(new Error("ENOSPC: no space left on device, open 'a'"), {
    code: "ENOSPC",
    path: "a",
  });
  expect(whyNot("The bot", system)).toMatch(
    /^The bot could not start: no space is left on the disk \(a\)\. Check .+\.$/,
  );
  expect(whyNot("The bot", new Error("PORT 1 is taken."))).toBe("PORT 1 is taken.");
});

test.each(["DATA_DIR", "AGENT_WORK_DIR"])(
  "neither the bot nor the service starts where %s is a file",
  async (name) => {
    const path = await aFile();
    for (const scriptArgs of [[], ["service"]]) {
      const { ended, stderr } = await startBot({ [name]: path }, { scriptArgs });
      expect(await ended).toBe(1);
      expect(stderr()).toBe(
        `${name} (${path}) can't be used: a file is where a folder should be. Set it to a folder that this account may write to.\n`,
      );
    }
  },
);
