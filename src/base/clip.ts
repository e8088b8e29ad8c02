/** Returns at most the first `limit` UTF-16 units of the text, without half a character at the end. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, Math.max(0, limit)).replace(/[\ud800-\udbff]$/, "");
}
