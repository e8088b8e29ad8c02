import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { card, openSandbox } from "#test/support/sandbox/opened-sandbox.ts";
import { seePage } from "#test/support/sandbox/seen-page.ts";

test("after a restart the bot edits the card it posted before, with the token it had before", async () => {
  const dataDir = await freshFolder();
  const before = await openSandbox({ dataDir });
  const { ts } = await before.slack("chat.postMessage", card("*Queued*"));
  const comment = { body: "⏳ **Queued**" };
  const posted = await before.github("POST", "/repos/octo/app/issues/1/comments", comment);
  const { id } = await posted.json();
  await before.stop();

  const after = await openSandbox({ dataDir });
  expect(after.sandbox.environment.SLACK_BOT_TOKEN).toBe(before.sandbox.environment.SLACK_BOT_TOKEN);
  expect(await after.slack("chat.update", { ...card("*Succeeded*"), ts })).toMatchObject({ ok: true });
  const path = `/repos/octo/app/issues/comments/${id}`;
  expect((await after.github("PATCH", path, { body: "✅ **Succeeded**" })).status).toBe(200);
  const page = await seePage(after.url);
  await page.until(
    ({ slack, github }) =>
      slack.channels[0]?.messages.at(-1)?.edited === true && github.issues[0]?.comments.length === 1,
  );
});

test("changes are saved soon, without a stop", async () => {
  const { dataDir, ...opened } = await openSandbox();
  await opened.act("github/open", { user: "bob", title: "Found on disk", body: "" });
  await expect.poll(() => readFile(join(dataDir, "sandbox.json"), "utf8")).toContain("Found on disk");
});

test("an issue that is opened after a restart gets the next number", async () => {
  const dataDir = await freshFolder();
  const before = await openSandbox({ dataDir });
  await before.act("github/open", { user: "bob", title: "Second", body: "" });
  await before.stop();
  const after = await openSandbox({ dataDir });
  const { answer } = await after.act("github/open", { user: "bob", title: "Third", body: "" });
  expect(answer).toMatchObject({ number: 3 });
});

test("only the owner may read the file, and no temporary file is left", async () => {
  const { dataDir, stop, act } = await openSandbox();
  await act("github/open", { user: "bob", title: "Another", body: "" });
  await stop();
  expect((await stat(join(dataDir, "sandbox.json"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["sandbox.json"]);
});

test.each(["", "{", '{"secrets":{}}', "[]"])(
  "a file that contains %o is set aside and logged",
  async (content) => {
    const dataDir = await freshFolder();
    await writeFile(join(dataDir, "sandbox.json"), content);
    const { logged, url } = await openSandbox({ dataDir });
    const { github } = await (await seePage(url)).until(() => true);
    expect(github.issues).toHaveLength(1);
    const aside = (await readdir(dataDir)).find((name) => name.startsWith("sandbox.json.broken-")) ?? "";
    expect(await readFile(join(dataDir, aside), "utf8")).toBe(content);
    expect(logged).toContainEqual(expect.objectContaining({ level: "warn" }));
  },
);

test("a folder that can't be written is an error at the start", async () => {
  const file = join(await freshFolder(), "file");
  await writeFile(file, "");
  await expect(openSandbox({ dataDir: file })).rejects.toThrow();
});
