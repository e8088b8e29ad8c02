import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { spliceOf } from "#service/sessions/session-changes.ts";
import type { Splice } from "#service/sessions/session-message.ts";

/** A module of the page's script, typed as the test uses it. */
const { applied }: { readonly applied: (before: string, splice: Splice) => string } = await import(
  join(import.meta.dirname, "../../../src/service/page/text.js")
);

test("a splice turns any text into any other", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "😀", "\ud83d"), maxLength: 1500 });
  const lines = fc.array(fc.constantFrom("one line\n", "another line\n", "x".repeat(300)), { maxLength: 60 });
  const either = fc.oneof(
    text,
    lines.map((each) => each.join("")),
  );
  fc.assert(
    fc.property(either, either, (before, after) => {
      expect(applied(before, spliceOf(before, after))).toBe(after);
      expect(applied(before, spliceOf(before, before + after))).toBe(before + after);
      const shifted = `[cut]\n${before.slice(before.length / 2)}${after}`;
      expect(applied(before, spliceOf(before, shifted))).toBe(shifted);
    }),
  );
});

test("a growing text sends only its new part, even past the limit", () => {
  const long = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join("");
  const sent = (before: string, after: string): number => {
    const { head, tail } = spliceOf(before, after);
    return head.length + tail.length;
  };
  expect(sent(long, `${long}more`)).toBe("more".length);
  expect(sent(long, `[The beginning is left out.]\n${long.slice(5_000)}more`)).toBeLessThan(100);
});
