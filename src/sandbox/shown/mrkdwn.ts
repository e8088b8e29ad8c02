/** Slack's own markup, read into rich text. https://docs.slack.dev/messaging/formatting-message-text */
import { emojiOf } from "./emoji.ts";
import { link, node, type RichNode } from "./rich-text.ts";

/** Returns the name of a user's or a channel's id. */
export type NameOf = (id: string) => string | undefined;

/** Returns the rich text of Slack's markup. */
export function mrkdwn(wire: string, nameOf: NameOf): readonly RichNode[] {
  return wire.split(/```\n?([\s\S]+?)\n?```/).flatMap((part, index) => {
    if (index % 2 === 1) return [node("pre", [node("code", [unescaped(part)])])];
    return paragraphs(part, nameOf);
  });
}

const quoted = /^(?:&gt;|>) ?/;

/** Groups consecutive lines that are quoted, or not. */
function paragraphs(text: string, nameOf: NameOf): RichNode[] {
  const groups: { isQuote: boolean; lines: string[] }[] = [];
  for (const line of text.replace(/^\n|\n$/g, "").split("\n")) {
    const isQuote = quoted.test(line);
    const last = groups.at(-1);
    const words = line.replace(quoted, "");
    if (last?.isQuote === isQuote) last.lines.push(words);
    else groups.push({ isQuote, lines: [words] });
  }
  return groups
    .filter(({ lines }) => lines.some((line) => line !== ""))
    .map(({ isQuote, lines }) => {
      const words = lines.flatMap((line, index) => [
        ...(index === 0 ? [] : [node("br", [])]),
        ...inline(line, nameOf),
      ]);
      return node(isQuote ? "blockquote" : "p", words);
    });
}

/** In this order: code, a mention or link in angle brackets, bold, italic, strikethrough, an emoji. */
const marks =
  /`([^`]+)`|<([^<>]*)>|(?<![\w*])\*(?=\S)([^*]*[^*\s])\*(?![\w*])|(?<![\w_])_(?=\S)([^_]*[^_\s])_(?![\w_])|(?<![\w~])~(?=\S)([^~]*[^~\s])~(?![\w~])|:([a-z0-9_+-]+):/g;

function inline(line: string, nameOf: NameOf): RichNode[] {
  const found: RichNode[] = [];
  let end = 0;
  for (const match of line.matchAll(marks)) {
    if (match.index > end) found.push(unescaped(line.slice(end, match.index)));
    found.push(...ofMatch(match, nameOf));
    end = match.index + match[0].length;
  }
  if (end < line.length) found.push(unescaped(line.slice(end)));
  return found;
}

function ofMatch(match: RegExpExecArray, nameOf: NameOf): readonly RichNode[] {
  const [whole, code, token, bold, italic, struck, emoji] = match;
  if (code !== undefined) return [node("code", [unescaped(code)])];
  if (token !== undefined) return ofToken(token, nameOf);
  if (bold !== undefined) return [node("strong", inline(bold, nameOf))];
  if (italic !== undefined) return [node("em", inline(italic, nameOf))];
  if (struck !== undefined) return [node("del", inline(struck, nameOf))];
  return [emojiOf(emoji ?? "") ?? whole];
}

function ofToken(token: string, nameOf: NameOf): readonly RichNode[] {
  const bar = token.indexOf("|");
  const target = unescaped(bar < 0 ? token : token.slice(0, bar));
  const label = bar < 0 ? null : unescaped(token.slice(bar + 1));
  const sign = target.slice(0, 1);
  const id = target.slice(1);
  if (sign === "@" || sign === "#") return [node("mention", [`${sign}${label ?? nameOf(id) ?? id}`])];
  if (sign === "!") return [node("mention", [label ?? `@${id.split("^")[0] ?? id}`])];
  return link(target, [label ?? target]);
}

const escapes: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt);/g, (escaped) => escapes[escaped] ?? escaped);
