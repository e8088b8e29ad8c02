import { expect, test } from "vitest";
import { ThreadUnreadable } from "#store/errors.ts";
import { newFolder, open, rowsIn } from "./open-folder.ts";
import { memoryLog, newRun, newThread, put, see } from "./threads.ts";

const place = "slack:T1:C1:1.1";
const secret = "a private word";
const thread = newThread("slash-1", { places: [place], runs: [newRun("r1")], said: [secret] });
const whole = JSON.stringify(thread);

/** A folder with one thread whose document is overwritten, and an intact one. */
async function folderWith(text: string): Promise<string> {
  const folder = await newFolder();
  const store = await open(folder);
  await put(store, thread);
  await put(store, newThread("whole", { places: ["elsewhere"] }));
  await store.close();
  rowsIn(folder, "UPDATE thread SET document = ? WHERE id = 'slash-1'", text);
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

test.each(damages)("a document that is %s is set aside, and no thread takes its place", async (_, text) => {
  const folder = await folderWith(text);
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  for (const ref of [place, "slash-1", "run:r1", "thread:slash-1"]) {
    await expect(store.find(ref)).rejects.toBeInstanceOf(ThreadUnreadable);
    await expect(see(store, ref, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  }
  // Another thread can't claim its refs either.
  await expect(see(store, "whole", "e", { places: [place] })).rejects.toBeInstanceOf(ThreadUnreadable);
  expect(await see(store, "elsewhere", "e")).toBe(1);

  expect(rowsIn(folder, "SELECT id, document FROM broken")).toEqual([{ id: "slash-1", document: text }]);
  expect(rowsIn(folder, "SELECT id FROM thread")).toEqual([{ id: "whole" }]);
  const reports = lines.filter(({ level }) => level === "error");
  expect(reports).toEqual([expect.objectContaining({ message: "A thread can't be read and was set aside" })]);
  expect(reports[0]?.fields).toMatchObject({ thread: "slash-1" });
  expect(JSON.stringify(lines)).not.toContain(secret);
  await store.close();

  const again = await open(folder);
  await expect(see(again, place, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
});

test("a repaired document is read again", async () => {
  const folder = await folderWith("torn");
  const store = await open(folder);
  await expect(store.find(place)).rejects.toBeInstanceOf(ThreadUnreadable);
  await store.close();
  rowsIn(folder, "INSERT INTO thread SELECT number, id, NULL, ? FROM broken", whole);
  rowsIn(folder, "DELETE FROM broken");
  expect(await (await open(folder)).find(place)).toEqual(thread);
});

test("a document of a newer version stays in place", async () => {
  const text = JSON.stringify({ ...thread, version: 2 });
  const folder = await folderWith(text);
  const store = await open(folder);
  await expect(see(store, place, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  expect(rowsIn(folder, "SELECT document FROM thread WHERE id = 'slash-1'")).toEqual([{ document: text }]);
});

test("fields of a document that the store does not know are kept", async () => {
  const folder = await folderWith(JSON.stringify({ ...thread, later: { added: true } }));
  const store = await open(folder);
  await see(store, place, "e");
  const [row] = rowsIn(folder, "SELECT document FROM thread WHERE id = 'slash-1'");
  expect(JSON.parse(String(row?.document))).toMatchObject({ later: { added: true }, seen: ["e"] });
});
