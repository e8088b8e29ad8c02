import fc from "fast-check";
import { expect, test } from "vitest";
import type { Action, Span, View } from "#core/view.ts";
import { faultsOfBlocks } from "#sandbox/slack/block-limits.ts";
import { toMessage, toPlainMessage } from "#slack/send/blocks.ts";
import { view } from "#test/support/slack/world.ts";

const person = { platform: "slack", id: "UALICE", name: "alice", bot: false };
const foreigner = { platform: "github", id: "octo<!here>", name: "octo<!here>", bot: false };

const textsOf = (words: Partial<View>, form = toMessage): string[] =>
  form(view(words)).blocks.flatMap((block) => {
    if (block.type === "section") return [block.text?.text ?? ""];
    return block.type === "markdown" ? [block.text] : [];
  });

const wordsIn = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(wordsIn)
      : [];

/** Random combinations of text that could notify people. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<!channel>",
        "<!here|x>",
        "<!everyone>",
        "<!subteam^S123ABC>",
        "<@U0123456>",
        "<@UALICE|a>",
      ),
      fc.constantFrom(
        "<",
        ">",
        "!",
        "@",
        "&",
        "\\",
        "`",
        "```\n",
        "|",
        "*",
        "\n",
        "\u200b",
        "😀",
        "&lt;",
        "&#64;",
      ),
      fc.constantFrom(
        "@channel",
        "@here",
        "@everyone",
        "channel",
        "here",
        "&#33;channel",
        "&commat;here",
        "&excl;",
      ),
      fc.constantFrom("https://a.example", "[x](<!here>)", "<https://a.example|b>", "<!--", "<<!!channel>>"),
      fc.string({ unit: "binary", maxLength: 20 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

const span: fc.Arbitrary<Span> = fc.oneof(
  nasty,
  nasty.map((strong) => ({ strong })),
  nasty.map((code) => ({ code })),
  nasty.map((name) => ({ person: { ...foreigner, id: name, name } })),
  fc.record({
    link: fc.oneof(
      nasty,
      nasty.map((path) => `https://a.example/${path}`),
    ),
    label: nasty,
  }),
  fc.constant({ person }),
);
const action: fc.Arbitrary<Action> = fc.record({
  action: fc.constantFrom("cancel" as const, "retry" as const),
  label: fc.string({ maxLength: 120 }),
  dispatch: fc.string({ minLength: 1, maxLength: 40 }),
});
const anyView: fc.Arbitrary<View> = fc.record({
  tone: fc.constantFrom("waiting", "working", "attention", "good", "bad", "plain"),
  headline: fc.array(span, { maxLength: 8 }),
  quote: fc.oneof(
    nasty,
    nasty.map((text) => text.repeat(30)),
  ),
  answer: fc.oneof(
    nasty,
    nasty.map((text) => text.repeat(300)),
  ),
  details: fc.array(fc.array(span, { maxLength: 6 }), { maxLength: 80 }),
  actions: fc.array(action, { maxLength: 8 }),
});

test("no text can notify people", () => {
  fc.assert(
    fc.property(anyView, (any) => {
      const texts = [toMessage(any).text, ...textsOf(any), ...textsOf(any, toPlainMessage)];
      const everything = texts.join("\n").replaceAll("<@UALICE>", "");
      expect(everything).not.toMatch(/<[!@]/);
      expect(everything).not.toMatch(/[@!](?:channel|here|everyone)\b/i);
      // Entities that a Markdown reader would turn into signs.
      expect(textsOf(any).join("\n")).not.toMatch(/&(?:#64|#33|commat|excl);\w/);
    }),
    { numRuns: 500 },
  );
});

test("a long text of characters that are escaped is cut in a fraction of a second", () => {
  const text = "&".repeat(100_000);
  const startedMs = performance.now();
  const [headline = "", quote = ""] = textsOf({ headline: [text], quote: text });
  expect(performance.now() - startedMs).toBeLessThan(300);
  for (const cut of [headline, quote]) {
    expect(cut.length).toBeGreaterThan(2_900);
    expect(cut.length).toBeLessThanOrEqual(3_000);
    expect(cut).toMatch(/&amp;…$/);
  }
});

test("every message is within Slack's limits", () => {
  fc.assert(
    fc.property(anyView, (any) => {
      for (const form of [toMessage, toPlainMessage]) {
        const { text, blocks } = form(any);
        expect(faultsOfBlocks(blocks)).toEqual([]);
        expect(text.length).toBeGreaterThan(0);
        expect(text.length).toBeLessThanOrEqual(300);
      }
    }),
    { numRuns: 300 },
  );
});

test("the bot's own mention of a person works", () => {
  expect(textsOf({ headline: [{ person }, " asked"] })).toEqual(["<@UALICE> asked"]);
});

test("a person of another platform is named, not mentioned", () => {
  expect(textsOf({ headline: [{ person: { ...foreigner, name: "octo" } }] })).toEqual(["octo"]);
});

test("a sentence keeps its bold words, code and links", () => {
  const headline: Span[] = [
    "a < b & ",
    { strong: "Run 7" },
    " ",
    { code: "x=`1`" },
    " ",
    { link: "https://a.example/?a=1&b=|2", label: "open > it" },
    " ",
    { link: "javascript:alert(1)", label: "not a link" },
  ];
  expect(textsOf({ headline })).toEqual([
    "a &lt; b &amp; *Run 7* `x=ˋ1ˋ` <https://a.example/?a=1&amp;b=%7C2|open &gt; it> not a link",
  ]);
});

test("a quotation is quoted line by line, so a line break can't leave it", () => {
  expect(textsOf({ quote: "fix\n*it*\r\n<!here>" })[1]).toBe("> fix\n> *it*\n> &lt;\u200b!\u200bhere&gt;");
});

test("the agent's Markdown stays Markdown", () => {
  const answer = "# Done\n\n- **fixed** `a.ts`\n\n```ts\nif (a < b && c) {}\n```";
  expect(toMessage(view({ answer })).blocks[1]).toEqual({ type: "markdown", text: answer });
});

test("no message contains half a character", () => {
  const half = "a \ud83d b \ude00";
  for (const form of [toMessage, toPlainMessage]) {
    const { text, blocks } = form(
      view({ headline: [half], quote: half, answer: half, details: [[{ code: half }]] }),
    );
    expect(text.isWellFormed()).toBe(true);
    for (const block of blocks)
      for (const value of wordsIn(block)) expect(value.isWellFormed(), value).toBe(true);
  }
});

test("a long answer is cut visibly, with the note outside its code", () => {
  const [, answer = ""] = textsOf({ answer: `\`\`\`\n${"x".repeat(20_000)}\n\`\`\`` });
  expect(answer.length).toBeLessThanOrEqual(12_000);
  expect(answer).toMatch(/x\n```\n\n\*The answer is longer than Slack allows/);
});

test("cancelling a run is red and asks for confirmation", () => {
  const actions: Action[] = [
    { action: "cancel", label: "Cancel", dispatch: "d1" },
    { action: "retry", label: "Try again", dispatch: "d1" },
  ];
  expect(toMessage(view({ actions })).blocks.at(-1)).toMatchObject({
    type: "actions",
    elements: [
      { action_id: "cancel", value: "d1", style: "danger", confirm: { style: "danger" } },
      { action_id: "retry", value: "d1" },
    ],
  });
});

test("the parts keep the order of the view", () => {
  const message = toMessage(
    view({
      tone: "good",
      headline: ["Done"],
      quote: "fix it",
      answer: "Fixed.",
      details: [["one"], ["two"]],
      actions: [{ action: "retry", label: "Again", dispatch: "d1" }],
    }),
  );
  expect(message.text).toBe("Done");
  expect(message.blocks.map(({ type }) => type)).toEqual([
    "section",
    "section",
    "markdown",
    "section",
    "actions",
  ]);
  expect(message.blocks[3]).toMatchObject({ text: { text: "one\ntwo", verbatim: true } });
});
