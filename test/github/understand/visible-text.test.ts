import { describe, expect, it } from "vitest";
import { visibleText } from "#github/understand/visible-text.ts";
import { repo, start } from "#test/support/github/start.ts";

describe("what GitHub's page shows of a text", () => {
  it.each([
    ["a comment among words", "Fix <!-- and leak --> it", "Fix  it"],
    ["a comment on lines of its own", "Fix it\n\n<!--\nleak\n\nmore\n-->\n\nplease", "Fix it\n\n\n\nplease"],
    ["a comment in a tag's block", "<div>\n<!-- leak -->\nsee\n</div>", "<div>\n\nsee\n</div>"],
    ["a comment that nothing closes", "Fix it\n\n<!-- leak\n\nleak more", "Fix it"],
    ["one that a quotation leaves open", "> <!-- leak\n\nleak more", ">"],
    ["one that a tag's block leaves open", "<div><!--\n\nleak\n\n<p>--> see</p>", "<div> see</p>"],
    ["an instruction to some processor", "Fix <?leak?> it", "Fix  it"],
    ["a definition that nothing uses", "Fix it\n\n[//]: # (leak)", "Fix it"],
    ["a second definition of one name", "[a]\n\n[a]: /x\n[a]: /leak", "[a]\n\n[a]: /x"],
    ["a definition in a quotation", "> Fix it\n>\n> [//]: # (leak)", "> Fix it\n>\n>"],
    ["a footnote that nothing refers to", "Fix it\n\n[^1]: leak\n\n    leak more", "Fix it"],
    [
      "a comment between the cells of a table",
      "| a | b |\n|-|-|\n| ` | <!-- leak --> ` |",
      "| a | b |\n|-|-|\n| ` |  ` |",
    ],
    [
      "a table's cell without a column",
      "| a |\n|-|\n| b | leak | <!-- leak --> |\nc | `leak|leak`\n\nsee",
      "| a |\n|-|\n| b \nc \n\nsee",
    ],
    [
      "a word behind a code block's language",
      "> ~~~ js leak `more`\n> see it\n> ~~~",
      "> ~~~ js\n> see it\n> ~~~",
    ],
    ["one behind an unusual space", "```js\u00a0leak\nsee it\n```", "```js\nsee it\n```"],
  ])("is not %s", (_what, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it.each([
    ["a comment in a code block", "```html\n<!-- kept -->\n```"],
    ["what follows an open comment in a code block", "```html\n<!-- kept\n```\n\nand this"],
    ["a comment in a code span", "Write `<!-- kept -->` there"],
    ["an open comment among words, which the page shows", "a <!-- b"],
    ["a footnote that is used", "See[^1].\n\n[^1]: there"],
    ["a definition that is used", "See [the page][p].\n\n[p]: https://a.example 'Title'"],
    ["a tag whose attribute looks like a comment", 'a <a title="<!--">b</a> c'],
    ["a table with as many cells as columns", "\n| a | b |\n|-|-|\n| c | d |\n| e |\n"],
    ["the language and the text of a code block", "\n```js  \nlet a = b | c\n```\n"],
    ["code that looks like a code block's first line", "\n    ```js kept\n\nand ```js kept``` too\n"],
    ["spaces and lines at the ends", "\n  hello \n"],
  ])("is %s", (_what, text) => {
    expect(visibleText(text)).toBe(text);
  });

  it.each([
    ["quotations", ">"],
    ["lazy lines", `${">".repeat(29)} a\n`, "a\n"],
    ["list items", "- "],
    ["links", "[a]("],
    ["links with titles that nothing ends", "[a](b ("],
    ["images with titles that nothing ends", "![a](b\n> ("],
    ["footnote references", "[^a] "],
    ["brackets that close nothing", "]:", "]"],
    ["words before brackets that close nothing", `${"a ".repeat(25_000)}${"]".repeat(1_900)}]:`, "a "],
    ["a few links with titles that nothing ends, before words", `${"[a](b (".repeat(240)}]:`, "a "],
    ["code that nothing ends", `${"``'\\\\".repeat(600)}]:`, "a"],
    ["instructions", "a<?"],
    ["comments", "a <!--a "],
    ["underlined lines", "a\n=\n"],
    ["empty lines", "\n"],
    ["emphasis", "a**b*c "],
    ["table rows", "|a|\n|-|\n"],
  ])("is found in bounded time in 64 KB and 1 MB of %s", (_what, start, piece = start) => {
    for (const size of [65_000, 1_000_000]) {
      const text = `${start}${piece.repeat((size - start.length) / piece.length)}`;
      expect(visibleText(`${text} <!-- leak -->`)).not.toContain("leak");
      expect(visibleText(`<!-- x -->${text}\n\n[//]: # (leak)\n\n[^a]: leak\n\n    leak`)).not.toContain(
        "leak",
      );
      expect(visibleText(`${text}\n\n\`\`\`js leak\n\`\`\``)).not.toContain("leak");
    }
  });
});

describe("events and history", () => {
  it("contain only visible text, also of the issue", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "T", body: "Broken <!-- leak -->" });
    const say = (body: string) => github.standIn.comment({ user: "alice", repo, issue: 1, body });
    await say("Well <!-- leak -->");
    await say("/agent run fix <!-- leak --> it");
    await say("<!--\n/agent run leak\n-->\nno command");
    await github.standIn.label({ user: "alice", repo, issue: 1, label: "agent" });
    expect(JSON.stringify(github.events)).not.toContain("leak");
    expect(github.events).toMatchObject([
      { kind: "reply", text: "Well", subject: { body: "Broken" } },
      { kind: "command", text: "run fix  it" },
      { kind: "reply", text: "no command" },
      { kind: "label", subject: { body: "Broken" } },
    ]);
  });
});
