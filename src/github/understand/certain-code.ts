/**
 * Where a Markdown text surely is code on GitHub. This parser knows CommonMark and GitHub adds to it, so a
 * place where the two could read the same text differently does not count: what is wrongly taken for text
 * gets an invisible character too many, what is wrongly taken for code would ping people.
 */
import { fromMarkdown } from "mdast-util-from-markdown";

export type Tree = ReturnType<typeof fromMarkdown>;
type Node = Tree | Tree["children"][number];

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Emphasis costs most of a hostile text's parsing time and says nothing about code. */
export const parseMarkdown = (text: string): Tree =>
  fromMarkdown(text, { extensions: [{ disable: { null: ["attention"] } }] });

/** Containers inside containers inside containers: parsing time grows with the square of the depth. */
const tooDeep = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){30}/m;

export const isTooDeep = (text: string): boolean => tooDeep.test(text);

/** GitHub's footnotes take lines that CommonMark gives to the blocks around them. */
const footnote = /\[\^[^\]\s]+\]:/;

/** A table's second line; it makes cells of the lines around it, and a code span ends with its cell. */
const delimiterRow = /^(?=.*-)(?=.*[|:])[ \t>*+\d.)|:-]+$/m;

const rangeOf = (node: Node): Range => ({
  start: node.position?.start.offset ?? 0,
  end: node.position?.end.offset ?? 0,
});

function inlineCodeIn(node: Node): Range[] {
  if (node.type === "inlineCode") return [rangeOf(node)];
  return "children" in node ? node.children.flatMap(inlineCodeIn) : [];
}

const covers = (ranges: readonly Range[], offset: number): boolean =>
  ranges.some(({ start, end }) => start <= offset && offset < end);

/** Whether the character is code when its table cell is read alone, as GitHub does. */
function isCodeInCell(text: string, offset: number): boolean {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const lineEnd = text.indexOf("\n", offset);
  const line = text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
  if (line.includes("\\|")) return false;
  const column = offset - lineStart;
  const cellStart = line.lastIndexOf("|", column - 1) + 1;
  const cellEnd = line.indexOf("|", column);
  // A word in front makes it a paragraph whatever the cell begins with.
  const lead = "x ";
  const cell = lead + line.slice(cellStart, cellEnd < 0 ? undefined : cellEnd);
  return covers(inlineCodeIn(parseMarkdown(cell)), column - cellStart + lead.length);
}

/** Tells for an offset into `text` whether it is inside of code. */
export function findCertainCode(text: string): (offset: number) => boolean {
  if (tooDeep.test(text) || footnote.test(text)) return () => false;
  const plain: Range[] = [];
  const tabular: Range[] = [];
  const visit = (node: Node): void => {
    if (node.type === "code") {
      // Indented code can be a footnote's or a list's text.
      if (/^[`~]/.test(text.slice(rangeOf(node).start))) plain.push(rangeOf(node));
    } else if (node.type === "paragraph" || node.type === "heading") {
      const { start, end } = rangeOf(node);
      const list = delimiterRow.test(text.slice(start, end)) ? tabular : plain;
      // A code span over several lines has lines that look like text to whoever reads line by line.
      list.push(...inlineCodeIn(node).filter((range) => !text.slice(range.start, range.end).includes("\n")));
    } else if ("children" in node) {
      node.children.forEach(visit);
    }
  };
  visit(parseMarkdown(text));
  return (offset) => covers(plain, offset) || (covers(tabular, offset) && isCodeInCell(text, offset));
}

/** The fence (such as three backticks) that would swallow whatever is written below `text`; null: none. */
export function openFenceOf(text: string): string | null {
  if (tooDeep.test(text)) return null;
  const below = `${text}\n\nx`;
  const last = parseMarkdown(below).children.at(-1);
  if (last?.type !== "code") return null;
  return /^(?:`{3,}|~{3,})/.exec(below.slice(rangeOf(last).start))?.[0] ?? null;
}
