import { readLines } from "./visible-lines.ts";

/**
 * Finds mentions of `name` (a login or an App's slug, without `@`, in any case) outside code and quotations.
 * Returns the text without them, and without the colon or comma after a leading one.
 */
export function takeMention(
  body: string,
  name: string,
): { readonly mention: boolean; readonly text: string } {
  const named = `@${RegExp.escape(name)}(?:\\[bot\\])?(?![\\w/-])`;
  const leading = new RegExp(`^\\s*${named}[:,]?\\s*`, "i");
  // Code spans match first, so that mentions in them are skipped. They begin and end with whole runs of backticks:
  // trying every part of a run would take seconds in a comment of 32,000 backticks.
  const pattern = new RegExp(`(?<!\`)(\`+)(?!\`)[^\`]+\\1(?!\`)|(?<![\\w/@-])${named}`, "gi");
  let mention = leading.test(body);
  const lines = readLines(body.replace(leading, "")).map(({ text, visible }) => {
    if (!visible) return text;
    return text.replace(pattern, (match) => {
      if (match.startsWith("`")) return match;
      mention = true;
      return "";
    });
  });
  return mention ? { mention, text: lines.join("\n").trim() } : { mention, text: body };
}
