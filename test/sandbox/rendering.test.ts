import fc from "fast-check";
import { expect, test } from "vitest";
import { pageBlocks } from "#sandbox/shown/blocks.ts";
import { markdown } from "#sandbox/shown/markdown.ts";
import { mrkdwn } from "#sandbox/shown/mrkdwn.ts";
import { plainOf, type RichNode, richTags } from "#sandbox/shown/rich-text.ts";

const nobody = () => undefined;
const gitHub = (text: string) => markdown(text, { hideComments: true });
const slack = (text: string) => mrkdwn(text, nobody);

/** Every element of the tree. */
const elements = (nodes: readonly RichNode[]): Exclude<RichNode, string>[] =>
  nodes.flatMap((node) => (typeof node === "string" ? [] : [node, ...elements(node.children)]));

/** Checks that the page creates only known elements, with web addresses only. */
function expectHarmless(nodes: readonly RichNode[]): void {
  for (const element of elements(nodes)) {
    expect(richTags).toContain(element.tag);
    if (element.tag === "a") expect(element.href).toMatch(/^https?:\/\//);
    expect(Object.keys(element).sort()).toEqual(
      element.tag === "a" ? ["children", "href", "tag"] : ["children", "tag"],
    );
  }
}

const hostile = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '<svg/onload=alert(1)> <iframe src="javascript:alert(1)">',
  "[click](javascript:alert(1))",
  "[click](JaVaScRiPt:alert(1)) [d](data:text/html,<script>alert(1)</script>) [v](vbscript:x)",
  "[click](&#106;avascript:alert(1))",
  "![x](javascript:alert(1)) ![y](data:image/svg+xml,x)",
  "<javascript:alert(1)> <a href='javascript:alert(1)'>x</a>",
  "[x]: javascript:alert(1)\n\n[x]",
  "<javascript:alert(1)|click> <data:text/html,x|y>",
  "`</code><script>alert(1)</script>`",
  "```html\n</pre><script>alert(1)</script>\n```",
  "|<script>|\n|-|\n|<img onerror=x>|",
  '[x](https://ok.example/"onmouseover="alert(1))',
  "&lt;script&gt;alert(1)&lt;/script&gt;",
];

test.each(hostile)("%s becomes only known elements and text", (text) => {
  expectHarmless(gitHub(text));
  expectHarmless(markdown(text, { hideComments: false }));
  expectHarmless(slack(text));
});

test("any text becomes known elements and web addresses only", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(...hostile, "*", "_", "`", "\n", "\n\n", "> ", "- ", "[", "]("),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      expectHarmless(gitHub(text));
      expectHarmless(slack(text));
    }),
  );
});

test("HTML is shown as text", () => {
  expect(plainOf(gitHub("a <b>bold</b> claim"))).toBe("a <b>bold</b> claim");
  expect(plainOf(slack("a &lt;b&gt;bold&lt;/b&gt; claim"))).toBe("a <b>bold</b> claim");
});

test("HTML comments are shown in Slack's Markdown, but not on GitHub", () => {
  const text = "<!-- agent-runs-bot e%3A1 -->\nfirst <!-- hidden --> last\n\n<!-- open";
  expect(plainOf(gitHub(text))).toBe("first  last");
  expect(plainOf(markdown(text, { hideComments: false }))).toContain("hidden");
});

test.each([
  ["quotations", ">".repeat(20_000)],
  ["lists", `${"- ".repeat(5_000)}x`],
  ["brackets", "[".repeat(30_000)],
  ["stars", "*a ".repeat(20_000)],
  ["backquotes", "```a ".repeat(10_000)],
])("endless %s are shown, in bounded time", (_, text) => {
  expect(plainOf(gitHub(text)).length).toBeGreaterThan(0);
  slack(text);
});

test("an agent's Markdown keeps its formatting", () => {
  const text =
    "# Done\n\n1. **one**\n2. `two`\n\n- [x] tests\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~old~~ & new\nline";
  const tags = elements(gitHub(text)).map(({ tag }) => tag);
  for (const tag of ["h3", "ol", "li", "strong", "code", "ul", "table", "tr", "th", "td", "del", "br"]) {
    expect(tags).toContain(tag);
  }
  expect(plainOf(gitHub("a \\*star\\* &amp; &#64;x &lt;y&gt;"))).toBe("a *star* & @x <y>");
});

test("Slack's markup keeps its formatting", () => {
  const names = (id: string) => (id === "UALICE" ? "alice" : undefined);
  const text =
    ":gear: *In progress*\n&gt; fix `it`\nAsked by <@UALICE> in <#C1|general> · <https://a.example/x?a=1&amp;b=2|Session> <!here>";
  const nodes = mrkdwn(text, names);
  expect(plainOf(nodes)).toBe("⚙️ In progressfix itAsked by @alice in #general · Session @here");
  expect(elements(nodes)).toContainEqual({
    tag: "a",
    href: "https://a.example/x?a=1&b=2",
    children: ["Session"],
  });
  expect(elements(nodes).filter(({ tag }) => tag === "blockquote")).toHaveLength(1);
});

test("an unknown or broken block is named and hides no other", () => {
  const shown = pageBlocks(
    [
      { type: "video" },
      { type: "section" },
      7,
      { type: "header", text: { type: "plain_text", text: "Still" } },
    ],
    nobody,
  );
  expect(shown).toHaveLength(4);
  expect(shown[3]).toEqual({ kind: "header", text: "Still" });
});

test("a button keeps its confirmation", () => {
  const plain = (text: string) => ({ type: "plain_text", text });
  const confirm = {
    title: plain("Sure?"),
    text: plain("It stops."),
    confirm: plain("Stop"),
    deny: plain("No"),
  };
  const button = { type: "button", action_id: "cancel", text: plain("Cancel"), style: "danger", confirm };
  expect(pageBlocks([{ type: "actions", elements: [button] }], nobody)).toEqual([
    {
      kind: "buttons",
      buttons: [
        {
          actionId: "cancel",
          label: "Cancel",
          style: "danger",
          confirm: { title: "Sure?", text: "It stops.", confirm: "Stop", deny: "No" },
        },
      ],
    },
  ]);
});
