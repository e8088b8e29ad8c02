import { readLines } from "./visible-lines.ts";

/** Four spaces before it would make the line code. */
const start = /^ {0,3}\/agent(?!\S)/i;

/**
 * Returns the command in a comment: the text after `/agent` on the first line that starts with it, and all
 * lines below. Lines in code blocks, quotations and HTML comments don't count. Null: there is none.
 */
export function findCommand(body: string): string | null {
  const lines = readLines(body);
  const index = lines.findIndex((line) => line.visible && start.test(line.text));
  const first = lines[index];
  if (first === undefined) return null;
  const rest = [first.text.replace(start, ""), ...lines.slice(index + 1).map((line) => line.text)];
  return rest.join("\n").trim();
}
