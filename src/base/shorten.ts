/** Returns the text on one line, cut to `most` characters with an ellipsis. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${[...line].slice(0, most - 1).join("")}…`;
}
