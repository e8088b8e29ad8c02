import { expect, test } from "vitest";
import { closest } from "#base/closest.ts";

const known = ["run", "status", "list", "mute", "unmute"] as const;

test("the nearest of the known words is found, not the first within reach", () => {
  expect(closest("rnu", known)).toBe("run");
  expect(closest("unmut", known)).toBe("unmute");
  expect(closest("staus", known)).toBe("status");
});

test("a word more than two edits away is no misspelling, whatever its length", () => {
  expect(closest("deploy", known)).toBeUndefined();
  expect(closest("run".repeat(100_000), known)).toBeUndefined();
  expect(closest("", ["model"])).toBeUndefined();
  expect(closest("run", [])).toBeUndefined();
});
