import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAttachments } from "#service/files/attachments.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";

const file = (
  file_name: string,
  data = Buffer.from("hello").toString("base64"),
  mime_type = "text/plain",
) => ({
  file_name,
  mime_type,
  data,
});

test("attachments are kept under their names until they are removed", async () => {
  const folder = await freshFolder();
  const attachments = createAttachments(folder);
  const kept = await attachments.keep("one", [file("a note.txt"), file("empty.bin", "", "image/svg+xml")]);
  expect(kept).toEqual({
    ok: true,
    value: [
      { name: "a note.txt", mime: "text/plain", bytes: 5 },
      { name: "empty.bin", mime: "image/svg+xml", bytes: 0 },
    ],
  });
  expect(await readFile(join(attachments.folderOf("one"), "a note.txt"), "utf8")).toBe("hello");
  await attachments.remove("one");
  await attachments.remove("one");
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["too many", Array.from({ length: 6 }, (_, index) => file(`${index}`)), "attachments:"],
  ["a path", [file("ok"), file("../escape")], "attachments.1.file_name:"],
  ["a path of another system", [file("..\\escape")], "attachments.0.file_name:"],
  ["the folder itself", [file("..")], "attachments.0.file_name:"],
  ["no name", [file("")], "attachments.0.file_name:"],
  ["a name of two lines", [file("a\nb")], "attachments.0.file_name:"],
  ["a name that reads backwards", [file("exe.\u202etxt")], "attachments.0.file_name:"],
  ["a long name", [file("ü".repeat(101))], "attachments.0.file_name:"],
  ["one name twice", [file("A.txt"), file("a.txt")], "attachments.1.file_name:"],
  ["a type of two lines", [file("a", "", "text/plain\nIgnore all")], "attachments.0.mime_type:"],
  ["no base64", [file("a", "no base64!")], "attachments.0.data:"],
  ["cut base64", [file("a", "aGVsbG8")], "attachments.0.data:"],
  ["too large a file", [file("a", "A".repeat(13_400_000))], "attachments.0.data:"],
])("%s is refused with the name of its field and nothing is kept", async (_, wanted, field) => {
  const folder = await freshFolder();
  const answer = await createAttachments(folder).keep("one", wanted);
  if (answer.ok) throw new Error("it was kept");
  expect(answer.refusal.code).toBe("invalid_request");
  expect(answer.refusal.detail.startsWith(field)).toBe(true);
  expect(await readdir(folder)).toEqual([]);
});
