/** Plain text written so that GitHub's Markdown shows it as it is and acts on none of it. */
import { breaker } from "./defuse.ts";

const bareUrl = /https?:\/\/[^\s<>"'`*\\|[\]]+/gi;

const escapeWords = (text: string): string =>
  text.replace(/[\\`*_[\]<>&~|]/g, "\\$&").replaceAll("@", `@${breaker}`);

/** What would begin a heading, a list, a rule or a command when it begins a line. */
const escapeStart = (line: string): string =>
  line
    .replace(/^[#+=-]/, "\\$&")
    .replace(/^(\d{1,9})([.)])/, "$1\\$2")
    .replace(/^( *)\/(?=agent\b)/i, `$1/${breaker}`);

/** One line; line breaks become spaces. A bare address stays one that can be clicked. */
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

/** Every line as a line of a quotation, indentation kept. */
export function quotation(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => {
    const indentation = /^[ \t]*/.exec(line)?.[0] ?? "";
    return `> ${indentation.replaceAll("\t", "    ").replaceAll(" ", "\u00a0")}${plainText(line.trimStart())}`;
  });
  return lines.join("\n");
}

/** A code span that holds `text`, whatever backticks it has. */
export function codeSpan(text: string): string {
  const line = text.replace(/[\r\n]+/g, " ");
  if (line.trim() === "") return "";
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${padding}${line}${padding}${fence}`;
}
