/** The text on one line, cut to at most `most` characters; an ellipsis marks the cut. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${[...line].slice(0, most - 1).join("")}…`;
}
