import { clip } from "#base/clip.ts";
import type { Span, Text } from "#core/view.ts";
import { breaker, harmless, silence } from "./safe-text.ts";

const ellipsis = "…";

/** Returns a sentence in Slack's markup, cut visibly to at most `limit` characters. */
export function mrkdwn(text: Text, limit: number): string {
  let line = "";
  for (const span of text) {
    // An `@` at the end of one span and a name in the next would make a mention.
    const next = (/[!@]$/.test(line) ? breaker : "") + ofSpan(span);
    if (line.length + next.length + ellipsis.length > limit) {
      const left = limit - line.length - ellipsis.length;
      return `${line}${typeof span === "string" ? fitting(breaker + span, left) : ""}${ellipsis}`;
    }
    line += next;
  }
  return line;
}

function ofSpan(span: Span): string {
  if (typeof span === "string") return harmless(span);
  if ("strong" in span) return wrap("*", span.strong, "∗");
  if ("code" in span) return wrap("`", span.code, "ˋ");
  if ("person" in span) return ofPerson(span.person);
  return ofLink(span.link, span.label);
}

/** mrkdwn can't escape its signs, so a look-alike replaces the sign inside. */
function wrap(sign: string, text: string, lookalike: string): string {
  const inside = harmless(text).replaceAll(sign, lookalike).replaceAll(/\s+/g, " ").trim();
  return inside === "" ? "" : `${sign}${inside}${sign}`;
}

const ofPerson = (person: Extract<Span, { person: unknown }>["person"]): string =>
  person.platform === "slack" && /^[UW][A-Z0-9]+$/.test(person.id)
    ? `<@${person.id}>`
    : harmless(person.name);

function ofLink(link: string, label: string): string {
  const text = harmless(label).replaceAll(/\s+/g, " ").trim();
  if (!/^https?:\/\//i.test(link)) return text;
  const url = silence(link).replaceAll(/[<>|\s`\u200b]/g, (sign) => encodeURIComponent(sign));
  return `<${url.replaceAll("&", "&amp;")}|${text || "link"}>`;
}

/** Returns the beginning of the text that fits after escaping, escaped. */
function fitting(text: string, limit: number): string {
  let fits = "";
  let least = 0;
  let most = Math.min(text.length, limit);
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    const escaped = harmless(clip(text, middle));
    if (escaped.length > limit) most = middle - 1;
    else [least, fits] = [middle, escaped];
  }
  return fits;
}

/** Returns plain text as a quotation, cut visibly to at most `limit` characters. */
export function quotation(text: string, limit: number): string {
  if (text.trim() === "") return "";
  const lines = text.trim().split(/\r\n|\r|\n/);
  let quoted = "";
  for (const line of lines) {
    const left = limit - quoted.length - "\n> ".length - ellipsis.length;
    if (left <= 0) return quoted + ellipsis;
    const start = quoted === "" ? "> " : "\n> ";
    const escaped = harmless(line);
    if (escaped.length > left) return `${quoted}${start}${fitting(line, left)}${ellipsis}`;
    quoted += start + escaped;
  }
  return quoted;
}
