import { type MarkdownNode, parseStructure } from "#base/markdown.ts";

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The parser and GitHub may disagree on where a footnote ends. */
const footnote = /\[\^[^\]\s]{1,999}\]:/;

/**
 * Returns a function that tells whether an offset into the Markdown `text` is certainly inside code. Doubtful
 * places do not count: text wrongly taken for code would ping people, whereas code wrongly taken for text
 * only gets an invisible character.
 */
export function findCertainCode(text: string): (offset: number) => boolean {
  const tree = /`|~~~/.test(text) && !footnote.test(text) ? parseStructure(text) : null;
  const ranges = tree === null ? [] : codeIn(tree, text);
  return (offset) => ranges.some(({ start, end }) => start <= offset && offset < end);
}

function codeIn(node: MarkdownNode, text: string): Range[] {
  if ("children" in node) return node.children.flatMap((child) => codeIn(child, text));
  const range = { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 };
  const written = text.slice(range.start, range.end);
  // Indented code can be a footnote's or a list's text.
  if (node.type === "code") return /^[`~]/.test(written) ? [range] : [];
  // GitHub finds commands line by line, and a table's cells end at any `|`.
  return node.type === "inlineCode" && !/[\n|]/.test(written) ? [range] : [];
}
