import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshFolder } from "#test/support/fresh-folder.ts";

const script = join(import.meta.dirname, "../../src/sandbox/demo/demo.mjs");

/** Runs the demo with its own temporary folder. */
async function startDemo() {
  const folder = await freshFolder();
  const child = spawn(process.execPath, [script], { env: { ...process.env, TMPDIR: folder } });
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  child.stderr.on("data", (text) => {
    said += text;
  });
  const ended = once(child, "exit").then(([code]) => code);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended, said: () => said, left: () => readdir(folder) };
}

test("the demo plays the whole story with the real bot and leaves no files", async () => {
  const demo = await startDemo();
  expect([await demo.ended, demo.said()]).toEqual([0, expect.stringContaining("The demo is complete")]);
  const story = demo.said();
  for (const part of [
    "Queued",
    "In progress",
    "Succeeded",
    "Continuing",
    "Cancelled",
    "/agent run",
    "reacts with",
  ]) {
    expect(story).toContain(part);
  }
  expect(story.match(/The run succeeded/g)).toHaveLength(4);
  expect(await demo.left()).toEqual([]);
}, 180_000);

test("an interrupted demo exits with an error and stops its bot", async () => {
  const demo = await startDemo();
  await expect.poll(demo.said, { timeout: 30_000 }).toContain("/agent run");
  demo.child.kill("SIGINT");
  expect(await demo.ended).toBe(1);
  expect(demo.said()).toContain("The demo failed");
  expect(await demo.left()).toEqual([]);
}, 60_000);
