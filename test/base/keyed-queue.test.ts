import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createLines } from "#base/keyed-queue.ts";

test("what is done under one name is done one after the other, though somebody leaves the line", async () => {
  const lines = createLines();
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const leaving = new AbortController();
  const staying = new AbortController().signal;
  const work =
    (what: string, before = Promise.resolve()) =>
    async (): Promise<string> => {
      await before;
      done.push(what);
      return what;
    };
  const first = lines.inLine("a", staying, work("first", gate.promise), "left");
  const second = lines.inLine("a", leaving.signal, work("second"), "left");
  const third = lines.inLine("a", staying, work("third"), "left");
  const other = lines.inLine("b", staying, work("other"), "left");
  leaving.abort();
  expect(await second).toBe("left");
  expect(await other).toBe("other");
  gate.resolve();
  expect([await first, await third]).toEqual(["first", "third"]);
  expect(done).toEqual(["other", "first", "third"]);
});

test("nothing of those who have stood in line stays with a signal that lives on", async () => {
  const { signal } = new AbortController();
  const lines = createLines();
  for (let turn = 0; turn < 5; turn++) await lines.inLine("a", signal, async () => turn, null);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
