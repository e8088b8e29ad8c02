import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keyOf } from "#store/documents.ts";
import { ThreadUnreadable } from "#store/errors.ts";
import { newFolder, open } from "./open-folder.ts";
import { memoryLog, newRun, newThread, put, see } from "./threads.ts";

const place = "slack:T1:C1:1.1";
const secret = "a private word";
const thread = newThread("slash-1", { places: [place], runs: [newRun("r1")], said: [secret] });
const whole = JSON.stringify(thread);
const file = `${keyOf("slash-1")}.json`;

/** A folder with the thread, its document overwritten, and a thread that is whole. */
async function folderWith(text: string): Promise<string> {
  const folder = await newFolder();
  const store = await open(folder);
  await put(store, thread);
  await put(store, newThread("whole", { places: ["elsewhere"] }));
  await store.close();
  await writeFile(join(folder, "threads", file), text);
  return folder;
}

const damages: [string, string][] = [
  ["torn", whole.slice(0, -20)],
  ["empty", ""],
  ["zeroed", "\0".repeat(whole.length)],
  ["somebody else's", JSON.stringify({ hello: secret })],
  ["of the wrong shape", JSON.stringify({ ...thread, effects: { 0: secret } })],
  ["another thread's", JSON.stringify(newThread("slash-2", { said: [secret] }))],
];

test.each(damages)("a document that is %s is set aside, and begins no thread anew", async (_, text) => {
  const folder = await folderWith(text);
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  for (const ref of [place, "slash-1", "run:r1", "thread:slash-1"]) {
    await expect(store.find(ref)).rejects.toBeInstanceOf(ThreadUnreadable);
    await expect(see(store, ref, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  }
  // Nor does another thread take over what leads to it.
  await expect(see(store, "whole", "e", { places: [place] })).rejects.toBeInstanceOf(ThreadUnreadable);
  expect(await see(store, "elsewhere", "e")).toBe(1);

  expect(await readFile(join(folder, "broken", file), "utf8")).toBe(text);
  expect(await readdir(join(folder, "threads"))).toEqual([`${keyOf("whole")}.json`]);
  const reports = lines.filter(({ level }) => level === "error");
  expect(reports).toHaveLength(1);
  expect(reports[0]?.fields).toMatchObject({ file: join(folder, "broken", file) });
  expect(JSON.stringify(lines)).not.toContain(secret);
  await store.close();

  const again = await open(folder);
  await expect(see(again, place, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
});

test("a document that was put right and back is read again", async () => {
  const folder = await folderWith("torn");
  const store = await open(folder);
  await expect(store.find(place)).rejects.toBeInstanceOf(ThreadUnreadable);
  await writeFile(join(folder, "broken", file), whole);
  await rename(join(folder, "broken", file), join(folder, "threads", file));
  expect(await store.find(place)).toEqual(thread);
});

test("a document of a newer version stays where it is, for the newer version to read", async () => {
  const folder = await folderWith(JSON.stringify({ ...thread, version: 2 }));
  const store = await open(folder);
  await expect(see(store, place, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  expect(await readdir(join(folder, "threads"))).toContain(file);
});

test("what the store does not know in a document is kept", async () => {
  const folder = await folderWith(JSON.stringify({ ...thread, later: { added: true } }));
  const store = await open(folder);
  await see(store, place, "e");
  expect(JSON.parse(await readFile(join(folder, "threads", file), "utf8"))).toMatchObject({
    later: { added: true },
    seen: ["e"],
  });
});

test("an index entry that can't be read is no reason to begin a thread anew", async () => {
  const folder = await folderWith(whole);
  await writeFile(join(folder, "index", keyOf(place)), "");
  const store = await open(folder);
  await expect(see(store, place, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  expect(await see(store, "run:r1", "e")).toBe(1);
});

test("an index entry that a crash left behind leads nowhere", async () => {
  const folder = await folderWith(whole);
  await writeFile(join(folder, "index", keyOf("new-place")), "slash-1\n");
  await writeFile(join(folder, "index", keyOf("newer-place")), "never-written\n");
  const store = await open(folder);
  expect(await store.find("new-place")).toBeNull();
  expect(await see(store, "new-place", "e")).toBe(1);
  await put(store, newThread("slash-3", { places: ["newer-place"] }));
  expect((await store.find("newer-place"))?.id).toBe("slash-3");
});
