import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { describe, expect, it } from "vitest";
import type { Person } from "#core/person.ts";
import type { View } from "#core/view.ts";
import { defuse } from "#github/send/defuse.ts";
import { markdownOf, maxCommentLength } from "#github/send/markdown.ts";
import { plainText, quotation } from "#github/send/plain-text.ts";
import { findCommand } from "#github/understand/command-line.ts";

const alice: Person = { platform: "github", id: "alice", name: "alice", bot: false };
const plainView: View = { tone: "plain", headline: [], details: [], actions: [] };
const show = (view: Partial<View>, to?: Person): string =>
  markdownOf({ ...plainView, ...view }, { maxLength: maxCommentLength, ...(to ? { to } : {}) });

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

/** Returns the parts in which GitHub looks for mentions: text with entities decoded, and HTML as written. */
function proseOf(node: Node, type: "text" | "html"): string[] {
  if (node.children) return node.children.flatMap((child) => proseOf(child, type));
  return node.type === type && node.value !== undefined ? [node.value] : [];
}
const treeOf = (markdown: string): Node => fromMarkdown(markdown);
function mentionsIn(markdown: string): string[] {
  const tree = treeOf(markdown);
  return [
    ...proseOf(tree, "text").flatMap((text) => text.match(/@[a-z\d][\w-]*/gi) ?? []),
    ...proseOf(tree, "html").flatMap((html) => html.match(/(?:@|&#64;|&#x40;|&commat;)[a-z\d&]/gi) ?? []),
  ];
}

describe("a view on GitHub", () => {
  it("keeps the order of its fields, with the answer last and commands instead of buttons", () => {
    const text = show({
      tone: "working",
      headline: ["Run ", { strong: "fix it" }, " for ", { person: alice }, " is ", { code: "INPROGRESS" }],
      quote: "fix it\n  please",
      answer: "Done **so far**.",
      details: [[{ link: "https://x.test/a?b=(c)", label: "Session" }], ["Model: gpt"]],
      actions: [
        { action: "cancel", label: "Cancel", dispatch: "d1" },
        { action: "retry", label: "Retry", dispatch: "d1" },
      ],
    });
    expect(text).toBe(
      [
        "⚙️ Run **fix it** for @alice is `INPROGRESS`",
        "> fix it\n> \u00a0\u00a0please",
        "- [Session](<https://x.test/a?b=(c)>)\n- Model: gpt",
        "Cancel with `/agent cancel` · Retry with `/agent retry`",
        "Done **so far**.",
      ].join("\n\n"),
    );
  });

  it("mentions the person it is addressed to, once", () => {
    expect(show({ headline: ["no."] }, alice)).toBe("@alice no.");
    expect(show({ headline: [{ person: alice }, ", no."] }, alice)).toBe("@alice, no.");
  });

  it("does not mention people from other platforms, or Apps", () => {
    const others: Person[] = [
      { platform: "slack", id: "U123", name: "octocat", bot: false },
      { platform: "github", id: "ci[bot]", name: "ci[bot]", bot: true },
    ];
    expect(others.map((person) => show({ headline: [{ person }] }))).toEqual(["octocat", "ci\\[bot\\]"]);
  });

  it("links to the web only", () => {
    expect(show({ headline: [{ link: "javascript:alert(1)", label: "x" }] })).toBe("x");
    expect(show({ headline: [{ link: "no address", label: "x" }] })).toBe("x");
  });

  it("shows plain text literally", () => {
    const text = "# 1. *a* _b_ `c` <d> [e](f) | ~g~ & \\h";
    const tree = fromMarkdown(plainText(text));
    expect(tree.children).toMatchObject([{ type: "paragraph", children: [{ type: "text", value: text }] }]);
  });

  it("keeps the code of an answer as it was written", () => {
    const answer =
      'Use `@Inject()`:\n\n```ts\nimport x from "@octokit/rest"; // <!-- @bob\n/agent run\n```\n';
    expect(defuse(answer)).toBe(answer);
  });

  it("keeps code in table cells, and breaks mentions in what only looks like code", () => {
    expect(defuse("| a |\n| - |\n| `@octokit/rest` |")).toBe("| a |\n| - |\n| `@octokit/rest` |");
    expect(defuse("| a | b |\n| - | - |\n| `x | @bob` |")).toContain("@\u200bbob");
    expect(defuse("| a |\n| - |\n| ` |\nz ` w ` @bob ` v")).toContain("@\u200bbob");
    expect(defuse("x ` y\n:-\nz ` w ` @bob ` v")).toContain("@\u200bbob");
  });

  it("breaks mentions that a footnote turns from code into text", () => {
    expect(defuse("[^`1]: x ` ` @bob `")).toContain("@\u200bbob");
    expect(defuse("- a\n\n      @bob")).toContain("@\u200bbob");
  });

  it("keeps code beside a mention that it breaks", () => {
    expect(defuse("`@Inject` by @bob")).toBe("`@Inject` by @\u200bbob");
  });

  it("keeps addresses that hold an @ working", () => {
    expect(defuse("see https://medium.com/@bob/post.")).toBe("see https://medium.com/%40bob/post.");
    expect(plainText("see https://medium.com/@bob?a&b")).toBe("see https://medium.com/%40bob?a&amp;b");
    expect(mentionsIn(plainText("see https://medium.com/&#64;bob"))).toEqual([]);
  });

  it.each([
    ["plainly", "@bob"],
    ["with a backslash", "\\@bob"],
    ["with an entity", "&#64;bob &#x40;bob &commat;bob &#064;bob"],
    ["with an entity in the name", "@&#98;ob"],
    ["in a link, emphasis and HTML", "[@bob](https://x) **@bob** <b title='@bob'>@bob</b>"],
    ["in a heading, a list and a quotation", "# @bob\n- @bob\n> @bob"],
    ["of a team", "@octo/everyone"],
    ["after a comment that hides a fence", "<!-- ``` -->\nb ``` @bob ```"],
    ["after an autolink that eats a backtick", "<`a@b.c> `@bob`"],
  ])("can't be made to ping %s", (_how, answer) => {
    expect(mentionsIn(show({ answer }))).toEqual([]);
  });

  it("contains no hidden marker and no command from the answer", () => {
    const answer = "<!-- agent-runs-bot e1 -->\n/agent run x\n  /Agent cancel\n<![CDATA[x]]> <?x?>";
    const text = show({ answer, quote: answer, headline: ["/agent run"], details: [["<!-- x -->"]] });
    expect(text).not.toMatch(/(?<!\\)<[!?]/);
    expect(findCommand(text)).toBeNull();
    expect(findCommand(defuse("/agent run x"))).toBeNull();
    expect(findCommand(defuse("`\r\n/agent run`"))).toBeNull();
  });

  it("shows its own lines even if the answer leaves Markdown or HTML open", () => {
    const details = [["Session"]];
    for (const answer of ["<details><summary>", "<table><tr>", "```js\nlet a;", "> ```\n> b"]) {
      const text = show({ answer, details });
      expect(text.indexOf("- Session")).toBeLessThan(text.indexOf(answer));
      expect(fromMarkdown(text).children[0]).toMatchObject({ type: "list" });
    }
  });

  it("closes a code block that was cut, before the note", () => {
    const text = show({ answer: `\`\`\`\n${"x\n".repeat(40_000)}` });
    expect(text).toMatch(/x\n+```\n\n_The rest was cut[^\n]+$/);
  });

  it("never contains half a character, from the agent or from a cut", () => {
    for (const answer of ["🙂".repeat(40_000), `x${"🙂".repeat(40_000)}`, "a \ud83d b"]) {
      expect(show({ answer, headline: [answer], quote: answer }).isWellFormed()).toBe(true);
    }
    expect(show({ answer: "🙂".repeat(40_000) })).not.toContain("\ufffd");
  });

  it("is cut at GitHub's limit, and says so", () => {
    for (const answer of ["x".repeat(200_000), "@".repeat(70_000), `\`\`\`\n${"@y\n".repeat(40_000)}`]) {
      const text = show({ answer, headline: ["Done"], details: [["Session"]] });
      expect(text.length).toBeLessThanOrEqual(maxCommentLength);
      expect(text.length).toBeGreaterThan(maxCommentLength / 2);
      expect(text).toContain("The rest was cut");
      expect(text).toContain("- Session");
      expect(text).not.toMatch(/@[a-z]/);
    }
    const quote = "q@\n".repeat(100_000);
    expect(show({ quote, details: Array(1_000).fill(["d".repeat(900)]) }).length).toBeLessThan(
      maxCommentLength,
    );
  });

  it.each([
    ["quotations", ">"],
    ["lazy lines", `${">".repeat(29)} a\n`, "`a`\n"],
    ["list items", "- "],
    ["links", "[@a]("],
    ["references", "`a` [^a] "],
    ["emphasis", "*a**b@c"],
    ["instructions", "`a`<?"],
    ["comments", "`a` <!--a "],
    ["underlines", "`a`\n=\n"],
    ["backticks", "``` `a @b` "],
    ["tables", "| `@a` |\n|-|\n"],
  ])("is written in bounded time for 64 KB of %s", (_what, start, piece = start) => {
    const text = show({ answer: `${start}${piece.repeat(65_000 / piece.length)}@bob` });
    expect(text.slice(-20)).not.toContain("@bob");
  });
});

describe("any text from an agent or a person", () => {
  const pieces = fc.constantFrom(
    "@bob",
    "@",
    "bob",
    "&#64;",
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    "    ",
    "> ",
    "- ",
    "1. ",
    "|",
    "| - |",
    ":-",
    "\\",
    "<!--",
    "-->",
    "<b>",
    "</b>",
    "<",
    ">",
    "[",
    "](",
    ")",
    "![",
    "*",
    "_",
    "# ",
    "/agent run",
    " ",
    "x",
    "http://x/",
    "a.c",
    "[^1]:",
    "[a]: ",
    "<pre>",
    "</pre>",
    "<?",
    "\t",
    "\r\n",
    "$",
    "---",
  );
  const text = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(""));

  it("mentions nobody outside code", () => {
    fc.assert(
      fc.property(text, (written) => {
        expect(mentionsIn(show({ answer: written }))).toEqual([]);
        expect(
          mentionsIn(show({ headline: [written], quote: written, details: [[{ strong: written }]] })),
        ).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it("contains no command and no hidden text, and a second defusing changes nothing", () => {
    fc.assert(
      fc.property(text, (written) => {
        const safe = defuse(written);
        expect(findCommand(safe)).toBeNull();
        expect(proseOf(treeOf(safe), "html").filter((html) => html.includes("<!"))).toEqual([]);
        expect(defuse(safe)).toBe(safe);
        expect(findCommand(quotation(written))).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it("never changes what the bot writes above it", () => {
    fc.assert(
      fc.property(text, (written) => {
        const [first] = fromMarkdown(show({ answer: `x\n\n${written}`, headline: ["Done"] })).children;
        expect(first).toMatchObject({ type: "paragraph", children: [{ type: "text", value: "Done" }] });
      }),
      { numRuns: 1_000 },
    );
  });
});
