import { expect, test } from "vitest";
import { parseMarkdown, parseStructure } from "#base/markdown.ts";

const size = 65_000;

test.each([
  ["one open bracket before words", "[", "x "],
  ["open footnote references before words", "[^".repeat(1_900), "x "],
  ["links with titles that nothing ends", "", "[a](b ("],
  ["a few of them before words", "[a](b (".repeat(240), "x"],
  ["images with titles that nothing ends", "![a](b\n(".repeat(240), "x"],
  ["tags that nothing ends", "<a ".repeat(1_900), "x "],
  ["an address with quotation marks", "www.", '"'],
  ["addresses", "``", 'x a@b.c"'],
])("64 KB of %s are parsed or refused in bounded time", (_what, start, piece) => {
  const text = (start + piece.repeat(size)).slice(0, size);
  for (const parse of [parseStructure, parseMarkdown]) {
    expect(parse(text)?.position?.end.offset ?? size).toBe(size);
  }
});

test("a bare address is a link, unless finding addresses could take long", () => {
  const address = "see https://a.example/b [or";
  const link = { type: "link", url: "https://a.example/b", children: [{ value: "https://a.example/b" }] };
  expect(parseMarkdown(address)?.children[0]).toMatchObject({
    children: [{ value: "see " }, link, { value: " [or" }],
  });
  expect(parseMarkdown(`${"more ".repeat(2_000)}${address}`)?.children[0]).toMatchObject({
    children: [{ type: "text" }],
  });
});
