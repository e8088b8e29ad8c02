import { findCertainCode } from "#github/understand/certain-code.ts";

/** A zero-width space, which breaks a mention invisibly. */
export const breaker = "\u200b";

const at = "(?:@|&#0*64;|&#[xX]0*40;|&commat;)";
const url = "https?:\\/\\/[^\\s<>\"'`]+";
const harmful = new RegExp(
  [
    `(?<url>${url})`,
    `(?<at>${at})(?!${breaker})`,
    "(?<markup><[!?])",
    "(?<command>(?<=^[ \\t]*)\\/(?=agent\\b))",
  ].join("|"),
  "gim",
);
const atInUrl = new RegExp(at, "gi");

/** Replaces everything harmful outside code. */
function pass(text: string, isCode: (offset: number) => boolean): string {
  return text.replace(harmful, (match: string, ...rest: unknown[]) => {
    const offset = rest.find((part) => typeof part === "number") ?? 0;
    if (isCode(offset)) return match;
    // An address still works with its @ percent-encoded.
    if (/^http/i.test(match)) return match.replaceAll(atInUrl, "%40");
    if (match.startsWith("<")) return `&lt;${match.slice(1)}`;
    return match === "/" ? `/${breaker}` : `@${breaker}`;
  });
}

/**
 * Returns an agent's Markdown with mentions outside code broken, HTML comments and declarations shown as text,
 * and no line that starts with `/agent`. Code stays as written.
 */
export function defuse(markdown: string): string {
  let text = markdown;
  // A replacement can move the border between code and text, so this repeats until nothing changes.
  for (let round = 0; round < 5; round += 1) {
    if (text.search(harmful) < 0) return text;
    const next = pass(text, findCertainCode(text));
    if (next === text) return text;
    text = next;
  }
  return pass(text, () => false);
}
