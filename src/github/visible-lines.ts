/**
 * What a comment says in the author's own voice. Anybody can comment on a public repository, so this reads
 * each line once and needs no Markdown tree: nesting can't make it slow.
 */

export interface Line {
  readonly text: string;
  /** False inside a fenced code block, a quotation or an HTML comment. */
  readonly visible: boolean;
}

/** Fences may stand in list items; their first line then begins with the item's mark. */
const opening = /^ {0,3}(?:(?:[-*+]|\d{1,9}[.)]) +)*(`{3,}(?=[^`]*$)|~{3,})/;

const closes = (line: string, fence: string): boolean => {
  const text = line.trim();
  return text.length >= fence.length && text === fence.charAt(0).repeat(text.length);
};

/** The lines of `body`, and the fence that is still open after the last one (null: none). */
export function readLines(body: string): {
  readonly lines: readonly Line[];
  readonly openFence: string | null;
} {
  let fence: string | null = null;
  let inComment = false;
  const lines = body.split(/\r?\n/).map((text): Line => {
    if (fence !== null) {
      if (closes(text, fence)) fence = null;
      return { text, visible: false };
    }
    if (inComment) {
      inComment = !text.includes("-->");
      return { text, visible: false };
    }
    fence = opening.exec(text)?.[1] ?? null;
    if (fence !== null) return { text, visible: false };
    const commentAt = text.lastIndexOf("<!--");
    inComment = commentAt >= 0 && !text.includes("-->", commentAt);
    return { text, visible: !/^ {0,3}>/.test(text) };
  });
  return { lines, openFence: fence };
}
