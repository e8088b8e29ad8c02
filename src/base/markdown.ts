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
const tree = gfmFromMarkdown().filter(({ transforms }) => transforms === undefined);

/** Emphasis and bare addresses: costly to parse, and irrelevant for the borders of code and HTML. */
const decoration = ["attention", "strikethrough", "wwwAutolink", "protocolAutolink", "emailAutolink"];

/** Parses all of GitHub's Markdown. Returns null if that could take long, see `isCostly`. */
export function parseMarkdown(text: string): MarkdownTree | null {
  if (isCostly(text, /[\n>[\]<`&\\|*_~]|[-+][ \t]|\d[.)][ \t]/g)) return null;
  return fromMarkdown(text, { extensions: [syntax], mdastExtensions: tree });
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
/** It searches the text before each `]` for a `[`: 2,000 of them behind 60 KB of words took 3.8 s. */
const mostSearchedBack = 16_000_000;
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
  count(text, /\]/g) * text.length > mostSearchedBack ||
  deep.test(text);

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
