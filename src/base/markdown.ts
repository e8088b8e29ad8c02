/** GitHub's Markdown as a syntax tree, for texts that can be parsed in bounded time. */
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** The root of the syntax tree. https://github.com/syntax-tree/mdast */
export type MarkdownTree = ReturnType<typeof fromMarkdown>;

/** Any node of the syntax tree. */
export type MarkdownNode = MarkdownTree | MarkdownTree["children"][number];

const syntax = gfm();
/** Without the transforms, which search plain text for addresses again, in quadratic time. */
const tree = gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] }));

const addresses = ["wwwAutolink", "protocolAutolink", "emailAutolink"];

/** Costly to parse, and irrelevant for the borders of code and HTML. */
const decoration = ["attention", "strikethrough", ...addresses];

/**
 * Parses all of GitHub's Markdown, but leaves bare addresses as text if finding them could take long. Returns null
 * if parsing could take long, see `isCostly`.
 */
export function parseMarkdown(text: string): MarkdownTree | null {
  if (isCostly(text, /[\n>[\]<`&\\|*_~]|[-+][ \t]|\d[.)][ \t]/g)) return null;
  const extensions = [syntax, { disable: { null: hasCostlyAddresses(text) ? addresses : [] } }];
  return fromMarkdown(text, { extensions, mdastExtensions: tree });
}

/** Parses as `parseMarkdown` does, but leaves emphasis and bare addresses as text. */
export function parseStructure(text: string): MarkdownTree | null {
  if (isCostly(text, /[\n>[\]<`&\\|]|[-*+][ \t]|\d[.)][ \t]/g)) return null;
  const extensions = [syntax, { disable: { null: decoration } }];
  return fromMarkdown(text, { extensions, mdastExtensions: tree });
}

const mostCharacters = 65_536;
const mostMarks = 2_000;
/** The parser searches the rest of the text for the end of each `<!` and `<?`, and of code behind an escaped backtick. */
const mostSearched = 2_000_000;
/** And the end of a link's title: 245 of `[a](b (` before 63 KB of words took 2.7 s. */
const titledLinks = /\]\((?![^\s()<\\]*\))/g;
/** It searches the text before each `]` for a `[`: 2,000 of them behind 60 KB of words took 3.8 s. */
const mostSearchedBack = 16_000_000;
const mostSearchedForAddresses = 50_000_000;
/** Thirty nested containers at the start of a line. */
const deep = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){30}/m;

/**
 * Parsing time grows with the square of the line ends, brackets, code signs and nested containers (`marks`).
 * Without this limit, 64 KB of `a<?` took 74 s, 64 KB of `[^a] ` 45 s and 32 KB of `]` 12 s; the worst text found
 * within it takes 0.5 s.
 */
const isCostly = (text: string, marks: RegExp): boolean =>
  text.length > mostCharacters ||
  count(text, marks) > mostMarks ||
  count(text, /<[!?]|\\``/g) * text.length > mostSearched ||
  count(text, titledLinks) * text.length > mostSearched ||
  count(text, /\]/g) * text.length > mostSearchedBack ||
  deep.test(text);

/**
 * From each word of a paragraph the parser may search back to an open bracket, to know whether an address can start
 * there: `[` before 64 KB of one-letter words took 25 s. From each punctuation mark in an address it searches for
 * the end of the marks: `www.` before 64 KB of quotation marks took more than 5 s.
 */
function hasCostlyAddresses(text: string): boolean {
  if (/[!"'()*,.:;<?[\]_~]{500}/.test(text)) return true;
  const open = text.split(/\n[ \t\r]*\n/).filter((paragraph) => paragraph.includes("["));
  return open.reduce((steps, { length }) => steps + length ** 2, 0) > mostSearchedForAddresses;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
