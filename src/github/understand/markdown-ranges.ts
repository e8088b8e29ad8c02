/** Where the nodes of a Markdown tree are in its text. */
import type { MarkdownNode } from "#base/markdown.ts";

/** A part of a text, in UTF-16 units; `end` is excluded. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the part of the text that the node was parsed from. */
export const rangeOf = ({ position }: MarkdownNode): Range => ({
  start: position?.start.offset ?? 0,
  end: position?.end.offset ?? 0,
});

/** Yields the node and all nodes below it in the order of the text, each with its parent; the root is its own. */
export function* nodesOf(
  node: MarkdownNode,
  parent: MarkdownNode = node,
): Generator<{ readonly node: MarkdownNode; readonly parent: MarkdownNode }> {
  yield { node, parent };
  if ("children" in node) for (const child of node.children) yield* nodesOf(child, node);
}
