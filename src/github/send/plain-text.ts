/** Plain text, escaped so that GitHub's Markdown shows it literally. */
import { breaker } from "./defuse.ts";

const bareUrl = /https?:\/\/[^\s<>"'`*\\|[\]]+/gi;

const escapeWords = (text: string): string =>
  text.replace(/[\\`*_[\]<>&~|]/g, "\\$&").replaceAll("@", `@${breaker}`);

/** Escapes the start of a heading, a list, a rule or a command. */
const escapeStart = (line: string): string =>
  line
    .replace(/^[#+=-]/, "\\$&")
    .replace(/^(\d{1,9})([.)])/, "$1\\$2")
    .replace(/^( *)\/(?=agent\b)/i, `$1/${breaker}`);

/** Returns the text on one line, its line breaks as spaces. Bare addresses stay links. */
export function plainText(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, " ");
  let escaped = "";
  let end = 0;
  for (const match of line.matchAll(bareUrl)) {
    const address = match[0].replaceAll("&", "&amp;").replaceAll("@", "%40");
    escaped += escapeWords(line.slice(end, match.index)) + address;
    end = match.index + match[0].length;
  }
  return escapeStart(escaped + escapeWords(line.slice(end)));
}

/** Returns the text as a quotation, with its lines and their indentation. */
export function quotation(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => {
    const indentation = /^[ \t]*/.exec(line)?.[0] ?? "";
    return `> ${indentation.replaceAll("\t", "    ").replaceAll(" ", "\u00a0")}${plainText(line.trimStart())}`;
  });
  return lines.join("\n");
}

/** Returns a code span that shows `text` on one line, whatever backticks it contains. */
export function codeSpan(text: string): string {
  const line = text.replace(/[\r\n]+/g, " ");
  if (line.trim() === "") return "";
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${padding}${line}${padding}${fence}`;
}
