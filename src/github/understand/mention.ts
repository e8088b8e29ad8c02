import { readLines } from "./visible-lines.ts";

const escapeForPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Whether `body` mentions `name` (a login, or an App's slug, without `@`) in the author's own voice, and the
 * text without those mentions; the colon or comma after a leading one goes with it. Logins are
 * case-insensitive; mentions in code and quotations are none.
 */
export function takeMention(
  body: string,
  name: string,
): { readonly mention: boolean; readonly text: string } {
  const named = `@${escapeForPattern(name)}(?:\\[bot\\])?(?![\\w/-])`;
  const leading = new RegExp(`^\\s*${named}[:,]?\\s*`, "i");
  // A code span comes first in the alternatives, so that what it holds is passed over.
  const pattern = new RegExp(`(\`+)[^\`]+\\1|(?<![\\w/@-])${named}`, "gi");
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
