/** Reads the bot's comments on GitHub as people see them. */
import type { Span, Text, View } from "#core/view.ts";

const marker = /^<!-- agent-runs-bot (\S+) -->\n/;

/** The id of the effect that posted or last edited the comment; null: it is not marked. */
export function effectIn(body: string): string | null {
  const name = marker.exec(body)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}

const plain = (text: string): string =>
  text
    .replaceAll("**", "")
    .replaceAll(/`([^`]*)`/g, "$1")
    .replaceAll(/\\([\\`*_[\]<>&~|#+=.)-])/g, "$1")
    .replaceAll("\u200b", "");

const textOf = (line: string): Text =>
  line
    .split(/(\[(?:\\.|[^\]\\])*\]\(<[^>]*>\))/)
    .filter((part) => part !== "")
    .map((part): Span => {
      const [, label, link] = /^\[(.*)\]\(<([^>]*)>\)$/s.exec(part) ?? [];
      return link === undefined ? plain(part) : { link, label: plain(label ?? "") };
    });

export function viewInComment(body: string): View {
  const [first = "", ...parts] = body.replace(marker, "").split("\n\n");
  const headline = textOf(first.replace(/^(?:@[\w-]+ )?(?:[⏳✋✅❌]|⚙️) /u, ""));
  const details: Text[] = [];
  const rest: string[] = [];
  let quote: string | null = null;
  for (const part of parts) {
    if (rest.length > 0) rest.push(part);
    else if (part.startsWith("> ")) quote = part;
    else if (part.startsWith("- ")) details.push(...part.split("\n").map((line) => textOf(line.slice(2))));
    else if (!/with `\/agent (?:cancel|retry)`/.test(part)) rest.push(part);
  }
  return {
    tone: "plain",
    headline,
    details,
    actions: [],
    ...(quote === null ? {} : { quote }),
    ...(rest.length === 0 ? {} : { answer: rest.join("\n\n") }),
  };
}
