/**
 * Reads a comment line by line instead of as a syntax tree. Anybody can comment on a public repository, so each line
 * is read once and nesting can't make it slow.
 */

/** A line of a comment, without its line end. */
export interface Line {
  readonly text: string;
  /** False in a fenced code block, a quotation or an HTML comment. */
  readonly visible: boolean;
}

interface Fence {
  readonly mark: string;
  readonly inList: boolean;
}

/** A fence may be the first thing in a list item. */
const opening = /^ {0,3}(?<list>(?:(?:[-*+]|\d{1,9}[.)]) +)*)(?<mark>`{3,}(?=[^`]*$)|~{3,})/;

function closes(line: string, { mark }: Fence): boolean {
  const text = line.trim();
  return text.length >= mark.length && text === mark.charAt(0).repeat(text.length);
}

function read(body: string): { readonly lines: readonly Line[]; readonly open: Fence | null } {
  let open: Fence | null = null;
  let inComment = false;
  const lines = body.split(/\r?\n/).map((text): Line => {
    // A line at the margin ends the list item and the code block in it.
    if (open?.inList && /^\S/.test(text)) open = null;
    if (open !== null) {
      if (closes(text, open)) open = null;
      return { text, visible: false };
    }
    if (inComment) {
      inComment = !text.includes("-->");
      return { text, visible: false };
    }
    const { mark, list } = opening.exec(text)?.groups ?? {};
    if (mark !== undefined) {
      open = { mark, inList: list !== "" };
      return { text, visible: false };
    }
    const commentAt = text.lastIndexOf("<!--");
    inComment = commentAt >= 0 && !text.includes("-->", commentAt);
    return { text, visible: !/^ {0,3}>/.test(text) };
  });
  return { lines, open };
}

/** Returns the lines of `body`, which may end with or without a carriage return. */
export const readLines = (body: string): readonly Line[] => read(body).lines;

/** Returns the fence (such as three backticks) of a code block that `text` leaves open; null: none. */
export function openFenceOf(text: string): string | null {
  const { open } = read(text);
  return open === null || open.inList ? null : open.mark;
}
