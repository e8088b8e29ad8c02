import { type MarkdownNode, parseStructure } from "#base/markdown.ts";
import { nodesOf, rangeOf } from "./markdown-ranges.ts";

/** The parser and GitHub may disagree on where a footnote ends. */
const footnote = /\[\^[^\]\s]{1,999}\]:/;

/**
 * Returns a function that tells whether an offset into the Markdown `text` is certainly inside code. Doubtful
 * places do not count: text wrongly taken for code would ping people, whereas code wrongly taken for text
 * only gets an invisible character.
 */
export function findCertainCode(text: string): (offset: number) => boolean {
  const tree = /`|~~~/.test(text) && !footnote.test(text) ? parseStructure(text) : null;
  const code = tree === null ? [] : [...nodesOf(tree)].filter(({ node }) => isCertain(node, text));
  const ranges = code.map(({ node }) => rangeOf(node));
  return (offset) => ranges.some(({ start, end }) => start <= offset && offset < end);
}

function isCertain(node: MarkdownNode, text: string): boolean {
  if (node.type !== "code" && node.type !== "inlineCode") return false;
  const { start, end } = rangeOf(node);
  const written = text.slice(start, end);
  // Indented code can be a footnote's or a list's text.
  if (node.type === "code") return /^[`~]/.test(written);
  // GitHub finds commands line by line, and a table's cells end at any `|`.
  return !/[\n|]/.test(written);
}
