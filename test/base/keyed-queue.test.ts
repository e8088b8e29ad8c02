import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createKeyedQueue } from "#base/keyed-queue.ts";

test("work under one key is done in order, also when a caller leaves the queue", async () => {
  const queue = createKeyedQueue();
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
  const first = queue.runUnlessAborted("a", staying, work("first", gate.promise), "left");
  const second = queue.runUnlessAborted("a", leaving.signal, work("second"), "left");
  const third = queue.runUnlessAborted("a", staying, work("third"), "left");
  const other = queue.runUnlessAborted("b", staying, work("other"), "left");
  leaving.abort();
  expect(await second).toBe("left");
  expect(await other).toBe("other");
  gate.resolve();
  expect([await first, await third]).toEqual(["first", "third"]);
  expect(done).toEqual(["other", "first", "third"]);
});

test("no listener stays on a signal that outlives the work", async () => {
  const { signal } = new AbortController();
  const queue = createKeyedQueue();
  for (let turn = 0; turn < 5; turn++) await queue.runUnlessAborted("a", signal, async () => turn, null);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("idle waits for work that failed, and for work that was added meanwhile", async () => {
  const queue = createKeyedQueue();
  const done: string[] = [];
  const failing = queue.run("a", async () => {
    void queue.run("a", async () => void done.push("added"));
    throw new Error("failed");
  });
  await expect(failing).rejects.toThrow("failed");
  await queue.idle();
  expect(done).toEqual(["added"]);
});
