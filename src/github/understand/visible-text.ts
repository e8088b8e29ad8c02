/**
 * What GitHub's page shows of a Markdown text: without HTML comments and without link definitions that nothing
 * uses. People review what they see, so the agent must not read what they could not (hidden instructions).
 */
import { isTooDeep, parseMarkdown, type Tree } from "./certain-code.ts";

type Node = Tree | Tree["children"][number];

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Texts without any of these hide nothing, and need no parsing. */
const suspicious = /<[!?]|^\s*\[[^\]]+\]:/m;

/** A comment, or what HTML takes for one (`<?x>`, `<!x>`); without its end it goes on behind the node. */
const comment = /<!--(?:-?>|[\s\S]*?(?:-->|$))|<[!?][^>]*(?:>|$)/g;

/** The text without what the page does not show; one that hides nothing stays as it is. */
export function visibleText(markdown: string): string {
  if (!suspicious.test(markdown)) return markdown;
  // Too costly to parse: rather too little is read than something hidden.
  if (isTooDeep(markdown)) return markdown.replace(comment, "").trim();
  const tree = parseMarkdown(markdown);
  const hidden = [...commentsIn(tree, markdown), ...unusedDefinitions(tree)].toSorted(
    (one, other) => one.start - other.start,
  );
  if (hidden.length === 0) return markdown;
  let shown = "";
  let from = 0;
  for (const { start, end } of hidden) {
    if (start > from) shown += markdown.slice(from, start);
    from = Math.max(from, end);
  }
  return (shown + markdown.slice(from)).trim();
}

const rangeOf = (node: Node): Range => ({
  start: node.position?.start.offset ?? 0,
  end: node.position?.end.offset ?? 0,
});

function* nodesOf(node: Node, parent: Node = node): Generator<{ node: Node; parent: Node }> {
  yield { node, parent };
  if ("children" in node) for (const child of node.children) yield* nodesOf(child, node);
}

const blocks: ReadonlySet<string> = new Set(["root", "blockquote", "listItem"]);

/** Code is no HTML, so that a comment in it stays. What a node leaves open, only another node's HTML can close. */
function commentsIn(tree: Tree, markdown: string): Range[] {
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
    // A tag among words is one node of its own, and its attributes may hold anything.
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

/** Of several definitions of one name the first counts. */
function unusedDefinitions(tree: Tree): Range[] {
  const nodes = [...nodesOf(tree)].map(({ node }) => node);
  const wanted = new Set(
    nodes.flatMap((node) =>
      node.type === "linkReference" || node.type === "imageReference" ? [node.identifier] : [],
    ),
  );
  return nodes.flatMap((node) =>
    node.type !== "definition" || wanted.delete(node.identifier) ? [] : [rangeOf(node)],
  );
}
