/** The page's script makes elements only from the parts that it finds in a text. */
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";

interface Part {
  readonly kind: string;
  readonly text: string;
}
interface Script {
  blocksOf(text: string): readonly Part[];
  piecesOf(text: string): readonly Part[];
  durationWords(ms: number): string;
  agoWords(ms: number): string;
}
/** The module, typed as the test uses it. */
const script: Script = await import(join(import.meta.dirname, "../../../src/service/page/text.js"));

test("code is the text between fences, even before the closing fence", () => {
  expect(script.blocksOf("Look:\n```ts\nconst a = `x`;\n\n~~~\n```\nDone.\n~~~~\nopen\n```")).toEqual([
    { kind: "prose", text: "Look:" },
    { kind: "code", text: "const a = `x`;\n\n~~~" },
    { kind: "prose", text: "Done." },
    { kind: "code", text: "open\n```" },
  ]);
});

test("only whole http addresses become links", () => {
  const links = (text: string) => script.piecesOf(text).filter(({ kind }) => kind === "link");
  const found = "See (https://a.example/x_(1)), http://b.example:8080/y?z=1#q. [w](https://c.example/).";
  expect(links(found).map(({ text }) => text)).toEqual([
    "https://a.example/x_(1)",
    "http://b.example:8080/y?z=1#q",
    "https://c.example/",
  ]);
  expect(links("javascript:alert(1) data:text/html,x //d.example https:// http://[ ftp://e.example")).toEqual(
    [],
  );
});

test("only the marks of headings, code and bold text are removed", () => {
  const text = fc.string({
    unit: fc.constantFrom("`", "*", "#", " ", "\n", "a", "https://x.y", ".", ")"),
    maxLength: 200,
  });
  fc.assert(
    fc.property(text, (whole) => {
      const bare = (each: string) => each.replaceAll(/[`*# ]/g, "");
      const pieces = script.piecesOf(whole).map((piece) => piece.text);
      expect(bare(pieces.join(""))).toBe(bare(whole));
    }),
  );
});

test("long prose is split at line ends, stably while it grows and without loss", () => {
  const lines = Array.from({ length: 3_000 }, (_, line) => `line ${line} of the text`);
  const [half, whole] = [
    script.blocksOf(lines.slice(0, 1_500).join("\n")),
    script.blocksOf(lines.join("\n")),
  ];
  expect(whole.map(({ text }) => text).join("\n")).toBe(lines.join("\n"));
  expect(whole.slice(0, half.length - 1)).toEqual(half.slice(0, -1));
  expect(whole.length).toBeGreaterThan(20);
});

test("times are written as people would", () => {
  expect([900, 61_000, 3_700_000].map(script.durationWords)).toEqual(["0 s", "1 min 1 s", "1 h 1 min"]);
  expect([-5, 120_000, 7_300_000, 90_000_000, 400_000_000].map(script.agoWords)).toEqual([
    "just now",
    "2 min ago",
    "2 h ago",
    "yesterday",
    "4 days ago",
  ]);
});
