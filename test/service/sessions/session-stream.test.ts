import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { problemOf, serving } from "#test/support/service/serving.ts";
import { linkOf, reading } from "#test/support/service/session-reader.ts";

/** Prints each word once the file for it exists, and ends after the last. */
const byFiles = (...words: readonly string[]): string =>
  words.map((word) => `while ! test -e ../${word}; do sleep 0.02; done; echo ${word}`).join("; ");
const go = (folder: string, word: string) => writeFile(join(folder, "work", word), "");

test("the stream shows the state, the agent's growing output and the end", async () => {
  const { api, folder } = await serving({ command: `cat > ../given; ${byFiles("one", "two", "three")}` });
  const id = await api.create({ prompt: "Count." });
  await api.until(id, "INPROGRESS");
  const { path, key } = await linkOf(api, id);
  const reader = await reading(path, key);
  await eventually("the beginning", () => reader.state() === "INPROGRESS");
  expect(reader.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  await go(folder, "one");
  await eventually("one", () => reader.texts()[1] === "one");
  await go(folder, "two");
  await eventually("two", () => reader.texts()[1] === "one\ntwo");
  await go(folder, "three");
  await eventually("the end", () => reader.state() === "SUCCEEDED");
  expect(reader.texts()).toEqual(["Count.", "one\ntwo\nthree"]);
  await api.followUp(id, "And on.");
  await eventually("the next end", () => reader.texts().length === 4 && reader.state() === "SUCCEEDED");
  expect(reader.texts()).toEqual(["Count.", "one\ntwo\nthree", "And on.", "one\ntwo\nthree"]);
  // Answer and prompt had been sent before, so neither is sent again.
  const sent = reader.received.flatMap(({ message }) => message.entries ?? []).map(({ text }) => text.tail);
  expect(sent.join("").match(/one/g)).toHaveLength(2);
  expect(sent.filter((text) => text.includes("Count."))).toHaveLength(1);
});

test("an agent's output arrives unchanged, whatever it contains", async () => {
  const hostile = "</script><img src=x onerror=alert(1)>\\n\\nevent: state\\ndata: {}\\n\\u2028 é 😀";
  const { api } = await serving({ command: `cat >/dev/null; printf '${hostile}'` });
  const id = await api.create({ prompt: "data: {}\n\nid: 7\n\n" });
  await api.until(id, "SUCCEEDED");
  const { path, key } = await linkOf(api, id);
  const reader = await reading(path, key);
  await eventually("everything", () => reader.texts().length === 2);
  expect(reader.texts()).toEqual((await api.said(id)).map((text) => text.slice(text.indexOf(" ") + 1)));
  expect(reader.received).toHaveLength(1);
});

test("known entries are not sent again unless the conversation is another one", async () => {
  const { api } = await serving({ command: "cat >/dev/null; echo $AGENT_RUN_ID" });
  const [id, other] = [await api.create({ prompt: "first" }), await api.create({ prompt: "second" })];
  await Promise.all([api.until(id, "SUCCEEDED"), api.until(other, "SUCCEEDED")]);
  const { path, key } = await linkOf(api, id);
  const first = await reading(path, key);
  await eventually("everything", () => first.received.length > 0);
  first.leave();
  const lastId = first.received.at(-1)?.id ?? "";

  await api.followUp(id, "more");
  await api.until(id, "SUCCEEDED");
  const again = await reading(path, key, lastId);
  await eventually("what came since", () => again.received.length > 0);
  expect(again.received[0]?.message).toMatchObject({ keep: 2, count: 4, view: { state: "SUCCEEDED" } });
  expect(again.received[0]?.message.entries?.map(({ index }) => index)).toEqual([2, 3]);

  const elsewhere = await linkOf(api, other);
  for (const strange of [lastId, "2.nonsense", "-1.x", "9999999.x", "x"]) {
    const wrong = await reading(elsewhere.path, elsewhere.key, strange);
    await eventually("everything", () => wrong.received.length > 0);
    expect(wrong.received[0]?.message).toMatchObject({ keep: 0, count: 2 });
    wrong.leave();
  }
});

test("each part of a growing answer is sent once, even when its beginning is dropped", async () => {
  const lines = 3000;
  const line = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  const part = (name: string): string =>
    `while ! test -e ../${name}; do sleep 0.02; done; ` +
    `i=0; while test $i -lt ${lines}; do echo ${name}-$i-${line}; i=$((i+1)); done`;
  const { api, folder } = await serving({ command: ["a", "b", "c"].map(part).join("; ") });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "INPROGRESS");
  const { path, key } = await linkOf(api, id);
  const reader = await reading(path, key);
  for (const name of ["a", "b", "c"]) {
    await go(folder, name);
    await eventually(name, () => reader.texts()[1]?.endsWith(`${name}-${lines - 1}-${line}`) ?? false);
  }
  await eventually("the end", () => reader.state() === "SUCCEEDED");
  const answer = (await api.said(id)).at(-1)?.replace("assistant: ", "") ?? "";
  expect(answer).toMatch(/^\[The beginning is left out\.\]/);
  expect(reader.texts()[1]).toBe(answer);
  const sent = reader.received.flatMap(({ message }) => message.entries ?? []);
  const size = sent.reduce((sum, { text }) => sum + text.head.length + text.tail.length, 0);
  expect(size).toBeLessThan(3 * lines * `a-1000-${line}`.length * 1.05);
});

test("a run has a limited number of streams; closed ones make room, and a HEAD needs none", async () => {
  const { api } = await serving({ command: "cat" });
  const id = await api.create({ prompt: "x" });
  const { path, key } = await linkOf(api, id);
  const headers = { "x-session-key": key };
  for (let n = 0; n < 30; n++) {
    expect((await fetch(`${path}/events`, { method: "HEAD", headers })).status).toBe(200);
  }
  const readers = await Promise.all(Array.from({ length: 20 }, () => reading(path, key)));
  expect(readers.map(({ status }) => status)).toEqual(readers.map(() => 200));
  const refused = await fetch(`${path}/events`, { headers });
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(await problemOf(Promise.resolve(refused))).toMatchObject({ http: 429, retryable: true });
  readers[0]?.leave();
  await eventually("room for one more", async () => {
    const one = await reading(path, key);
    return one.status === 200 ? true : null;
  });
});

test("streams end when the service stops and continue after its restart", async () => {
  const folder = await freshFolder();
  const before = await serving({ folder, command: "cat; sleep 20" });
  const id = await before.api.create({ prompt: "x" });
  await before.api.until(id, "INPROGRESS");
  const { path, key } = await linkOf(before.api, id);
  const reader = await reading(path, key);
  await eventually("the answer so far", () => reader.texts()[1] === "x");
  // The server goes on, so that it is the service that ends the stream.
  await before.service.stop();
  await eventually("the stream's end", reader.isOver);
  await before.stop();

  const { api } = await serving({ folder, command: "cat" });
  const link = await linkOf(api, id);
  expect(link.key).toBe(key);
  const again = await reading(link.path, key, reader.received.at(-1)?.id);
  await eventually("the state after the restart", () => again.state() === "ERROR");
  expect(again.received[0]?.message).toMatchObject({ keep: 1 });
});
