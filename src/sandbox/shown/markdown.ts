/** Markdown, as GitHub and Slack's Markdown blocks take it, read into rich text. */
import { Lexer, type Token } from "marked";
import { link, node, type RichNode } from "./rich-text.ts";

export interface MarkdownOptions {
  /** GitHub shows no HTML comments; elsewhere they stand in the text as they were written. */
  readonly hideComments: boolean;
}

/** What nests deeper than this is shown as it was written. */
const deepest = 30;

/** HTML is shown as text, and an image as a link to it. Never throws: what can't be read stays plain. */
export function markdown(text: string, options: MarkdownOptions): readonly RichNode[] {
  let tokens: readonly Token[];
  try {
    tokens = new Lexer({ gfm: true, breaks: true }).lex(text);
  } catch {
    // Nesting without end is more than the parser's stack holds.
    return [node("p", [text])];
  }
  return many(tokens, options, 0);
}

const many = (tokens: readonly Token[], options: MarkdownOptions, depth: number): RichNode[] =>
  tokens.flatMap((token) => one(token, options, depth));

function one(token: Token, options: MarkdownOptions, depth: number): readonly RichNode[] {
  if (depth > deepest) return [token.raw];
  const inner = (): RichNode[] => many(tokensOf(token), options, depth + 1);
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return [node(headings[Number(token.depth)] ?? "h6", inner())];
    case "paragraph":
      return [node("p", inner())];
    case "blockquote":
      return [node("blockquote", inner())];
    case "code":
      return [node("pre", [node("code", [String(token.text)])])];
    case "hr":
      return [node("hr", [])];
    case "list":
      return [node(token.ordered === true ? "ol" : "ul", itemsOf(token, options, depth + 1))];
    case "table":
      return [node("table", rowsOf(token, options, depth + 1))];
    case "checkbox":
      return [token.checked === true ? "☑ " : "☐ "];
    case "strong":
      return [node("strong", inner())];
    case "em":
      return [node("em", inner())];
    case "del":
      return [node("del", inner())];
    case "br":
      return [node("br", [])];
    case "codespan":
      return [node("code", [String(token.text)])];
    case "escape":
      return [String(token.text)];
    case "link":
      return link(String(token.href), inner());
    case "image":
      return link(String(token.href), [`🖼 ${decoded(String(token.text)) || "image"}`]);
    case "html":
      return htmlAsText(token.raw, options);
    case "text":
      return !("tokens" in token) || token.tokens === undefined ? [decoded(String(token.text))] : inner();
    default:
      return [token.raw];
  }
}

const headings: Readonly<Record<number, "h3" | "h4" | "h5" | "h6">> = { 1: "h3", 2: "h4", 3: "h5", 4: "h6" };

/** Cells are tokens without a type of their own. */
const tokensOf = (token: { readonly tokens?: unknown } | Token): readonly Token[] =>
  "tokens" in token && isList(token.tokens) ? token.tokens : [];

const isList = (value: unknown): value is readonly Token[] => Array.isArray(value);

function itemsOf(list: Token, options: MarkdownOptions, depth: number): RichNode[] {
  const items: unknown = "items" in list ? list.items : [];
  return (isList(items) ? items : []).map((item) => node("li", many(tokensOf(item), options, depth)));
}

function rowsOf(table: Token, options: MarkdownOptions, depth: number): RichNode[] {
  const cells = (tag: "th" | "td", row: unknown): RichNode =>
    node(
      "tr",
      (isList(row) ? row : []).map((cell) => node(tag, many(tokensOf(cell), options, depth))),
    );
  const rows: unknown = "rows" in table ? table.rows : [];
  const header: unknown = "header" in table ? table.header : [];
  return [cells("th", header), ...(Array.isArray(rows) ? rows.map((row: unknown) => cells("td", row)) : [])];
}

function htmlAsText(raw: string, { hideComments }: MarkdownOptions): readonly RichNode[] {
  const shown = hideComments ? raw.replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "") : raw;
  return shown.trim() === "" ? [] : [shown];
}

const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  excl: "!",
  commat: "@",
  hellip: "…",
  mdash: "—",
  ndash: "–",
};

/** The parser leaves character references as they are; as text they would be seen. */
const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (written, decimal, hexadecimal, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? written;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
