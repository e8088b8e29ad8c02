/**
 * What a comment says in the author's own voice. Anybody can comment on a public repository, so this reads
 * each line once and needs no Markdown tree: nesting can't make it slow.
 */

export interface Line {
  readonly text: string;
  /** False inside a fenced code block, a quotation or an HTML comment. */
  readonly visible: boolean;
}

/** A fence may be the first thing in a list item. */
const opening = /^ {0,3}(?<list>(?:(?:[-*+]|\d{1,9}[.)]) +)*)(?<fence>`{3,}(?=[^`]*$)|~{3,})/;

const closes = (line: string, fence: string): boolean => {
  const text = line.trim();
  return text.length >= fence.length && text === fence.charAt(0).repeat(text.length);
};

/** The lines of `body`, whatever line ends it has. */
export function readLines(body: string): readonly Line[] {
  let open: { readonly fence: string; readonly inList: boolean } | null = null;
  let inComment = false;
  return body.split(/\r?\n/).map((text): Line => {
    // What begins at the margin is no part of a list item any more, nor is it code.
    if (open?.inList && /^\S/.test(text)) open = null;
    if (open !== null) {
      if (closes(text, open.fence)) open = null;
      return { text, visible: false };
    }
    if (inComment) {
      inComment = !text.includes("-->");
      return { text, visible: false };
    }
    const { fence, list } = opening.exec(text)?.groups ?? {};
    if (fence !== undefined) {
      open = { fence, inList: list !== "" };
      return { text, visible: false };
    }
    const commentAt = text.lastIndexOf("<!--");
    inComment = commentAt >= 0 && !text.includes("-->", commentAt);
    return { text, visible: !/^ {0,3}>/.test(text) };
  });
}
