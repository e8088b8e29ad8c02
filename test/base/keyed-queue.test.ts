import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createKeyedQueue } from "#base/keyed-queue.ts";

/** Returns work that records its name after `before`. */
const working = (done: string[]) => (name: string, before?: Promise<void>) => async (): Promise<string> => {
  await before;
  done.push(name);
  return name;
};

test("work under one key keeps its order when queued work is aborted", async () => {
  const queue = createKeyedQueue();
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const work = working(done);
  const leaving = new AbortController();
  const { signal } = new AbortController();
  const first = queue.run("a", work("first", gate.promise), { signal });
  const second = queue.run("a", work("second"), { signal: leaving.signal });
  const third = queue.run("a", work("third"));
  const other = queue.run("b", work("other"));
  leaving.abort();
  await expect(second).rejects.toBe(leaving.signal.reason);
  expect(await other).toBe("other");
  gate.resolve();
  expect([await first, await third]).toEqual(["first", "third"]);
  expect(done).toEqual(["other", "first", "third"]);
});

test("failing work rejects only its own promise", async () => {
  const queue = createKeyedQueue();
  const failing = queue.run("a", () => Promise.reject(new Error("failed")));
  const next = queue.run("a", async () => "next");
  await expect(failing).rejects.toThrow("failed");
  expect(await next).toBe("next");
});

test("the first work under a key starts synchronously; aborted work never starts", async () => {
  const queue = createKeyedQueue();
  const done: string[] = [];
  const first = queue.run("a", async () => done.push("first"));
  expect(done).toEqual(["first"]);
  const late = queue.run("b", async () => done.push("late"), { signal: AbortSignal.abort() });
  await expect(late).rejects.toThrow();
  await first;
  expect(done).toEqual(["first"]);
});

test("idle waits for work that is added while it waits", async () => {
  const queue = createKeyedQueue();
  const done: string[] = [];
  const work = working(done);
  void queue.run("a", async () => {
    await Promise.resolve();
    void queue.run("b", work("later"));
  });
  await queue.idle();
  expect(done).toEqual(["later"]);
});

test("a long-lived signal keeps no listener of finished work", async () => {
  const { signal } = new AbortController();
  const queue = createKeyedQueue();
  const gate = Promise.withResolvers<void>();
  const all = [queue.run("a", () => gate.promise, { signal }), queue.run("a", async () => {}, { signal })];
  gate.resolve();
  await Promise.all(all);
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
