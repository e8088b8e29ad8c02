import { expect, test } from "vitest";
import { createKeyedLimit } from "#base/keyed-limit.ts";

test("hanging work delays only its own key, and queued work starts in order", async () => {
  const limit = createKeyedLimit(2);
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = (name: string) => async () => {
    begun.push(name);
    await gate.promise;
  };
  const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => limit(name.slice(0, 1), work(name)));
  await new Promise(setImmediate);
  expect(begun).toEqual(["a1", "a2", "b1"]);
  gate.resolve();
  await Promise.all(all);
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

test("work that fails frees its slot", async () => {
  const limit = createKeyedLimit(1);
  await expect(limit("a", async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await limit("a", async () => "next")).toBe("next");
});
