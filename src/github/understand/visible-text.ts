/**
 * The part of a Markdown text that GitHub's page shows: no HTML comments, no definitions of links and
 * footnotes that nothing uses, no cells beyond a table's columns, and of a code block's first line only its
 * language. People review what they see, so the agent must not read hidden instructions.
 */
import { type MarkdownNode, type MarkdownTree, parseStructure } from "#base/markdown.ts";
import { nodesOf, type Range, rangeOf } from "./markdown-ranges.ts";

/** Without any of these a text hides nothing. */
const suspicious = /<[!?]|\]:|\||```|~~~/;

/** An HTML comment, also one that the HTML node leaves open, or a declaration (`<?x>`, `<!x>`). */
const comment = /<!--(?:-?>|[\s\S]*?(?:-->|$))|<[!?][^>]*(?:>|$)/g;

/** The first line of a fenced code block with more than a language, for texts without a tree. */
const info = /^([ \t>*+\-\d.)]*(?:`{3,}(?!`)|~{3,}(?!~))[ \t]*\S+)[^\S\r\n][^\r\n]*/gm;

/**
 * Returns the visible text, or the same text if nothing is hidden. Bounded time: a text that is too costly to
 * parse also loses visible comments (in code) and used definitions, and keeps surplus cells.
 */
export function visibleText(markdown: string): string {
  if (!suspicious.test(markdown)) return markdown;
  const tree = parseStructure(markdown);
  if (tree === null) {
    return withoutDefinitions(markdown.replace(comment, "").replace(info, "$1")).trim();
  }
  const hidden = [
    ...commentsIn(tree, markdown),
    ...unusedDefinitions(tree),
    ...[...nodesOf(tree)].flatMap(({ node }) => [...surplusCells(node), ...restOfInfo(node, markdown)]),
  ].toSorted((one, other) => one.start - other.start);
  if (hidden.length === 0) return markdown;
  let shown = "";
  let from = 0;
  for (const { start, end } of hidden) {
    if (start > from) shown += markdown.slice(from, start);
    from = Math.max(from, end);
  }
  return (shown + markdown.slice(from)).trim();
}

/** Cuts each paragraph at what may be a definition, and the indented ones below, which may belong to a footnote. */
function withoutDefinitions(text: string): string {
  let isCut = false;
  const cut = (paragraph: string): string => {
    if (isCut && /^[ \t]/.test(paragraph)) return "";
    const start = paragraph.search(/^[ \t>*+\-\d.)]*\[/m);
    isCut = start >= 0 && paragraph.includes("]:", start);
    return isCut ? paragraph.slice(0, start) : paragraph;
  };
  return text
    .split(/(\n[ \t\r]*\n)/)
    .map((part, index) => (index % 2 === 0 ? cut(part) : part))
    .join("");
}

const blocks: ReadonlySet<string> = new Set(["root", "blockquote", "listItem", "footnoteDefinition"]);

/** A comment that one HTML node leaves open ends in a later HTML node, or not at all. */
function commentsIn(tree: MarkdownTree, markdown: string): Range[] {
  const found: Range[] = [];
  let openSince: number | null = null;
  for (const { node, parent } of nodesOf(tree)) {
    if (node.type !== "html") continue;
    let { start } = rangeOf(node);
    const { end } = rangeOf(node);
    if (openSince !== null) {
      const close = markdown.slice(start, end).indexOf("-->");
      if (close < 0) continue;
      start += close + "-->".length;
      found.push({ start: openSince, end: start });
      openSince = null;
    }
    const html = markdown.slice(start, end);
    // A tag among words is a node of its own, and its attributes may hold anything.
    if (!blocks.has(parent.type) && !/^<[!?]/.test(html)) continue;
    for (const match of html.matchAll(comment)) {
      const range = { start: start + match.index, end: start + match.index + match[0].length };
      if (match[0].startsWith("<!--") && !match[0].endsWith(">")) openSince = range.start;
      else found.push(range);
    }
  }
  if (openSince !== null) found.push({ start: openSince, end: markdown.length });
  return found;
}

/** The first of several definitions with one name counts. */
function unusedDefinitions(tree: MarkdownTree): Range[] {
  const nodes = [...nodesOf(tree)].map(({ node }) => node);
  const links = new Set<string>();
  const notes = new Set<string>();
  for (const node of nodes) {
    if (node.type === "linkReference" || node.type === "imageReference") links.add(node.identifier);
    if (node.type === "footnoteReference") notes.add(node.identifier);
  }
  return nodes.flatMap((node) => {
    if (node.type === "definition") return links.delete(node.identifier) ? [] : [rangeOf(node)];
    if (node.type === "footnoteDefinition") return notes.delete(node.identifier) ? [] : [rangeOf(node)];
    return [];
  });
}

/** The page shows as many cells of a row as the table's first row has. */
function surplusCells(node: MarkdownNode): Range[] {
  if (node.type !== "table") return [];
  const columns = node.children[0]?.children.length ?? 0;
  return node.children.flatMap((row) => row.children.slice(columns).map(rangeOf));
}

/** The words behind the language of a fenced code block. */
function restOfInfo(node: MarkdownNode, markdown: string): Range[] {
  if (node.type !== "code" || !node.lang) return [];
  const { start, end } = rangeOf(node);
  const [line = "", shown = ""] = /^([`~]+[ \t]*\S+)[^\r\n]*/.exec(markdown.slice(start, end)) ?? [];
  return line.trimEnd() === shown ? [] : [{ start: start + shown.length, end: start + line.length }];
}
