import { clip } from "#base/clip.ts";
import type { Person } from "#core/person.ts";
import type { Action, Span, Text, View } from "#core/view.ts";
import { platformName } from "#github/place.ts";
import { openFenceOf } from "#github/understand/visible-lines.ts";
import { defuse } from "./defuse.ts";
import { codeSpan, plainText, quotation } from "./plain-text.ts";

/** In UTF-16 units; GitHub refuses longer comments with 422. */
export const maxCommentLength = 65_536;
/** Only pasted text reaches these limits: the bot's own sentences are short. */
const maxSpanLength = 1_000;
const maxQuoteLength = 5_000;
const maxDetailsLength = 20_000;

const cutNote = "_The rest was cut: GitHub does not allow longer comments._";

const signs: Readonly<Record<View["tone"], string>> = {
  waiting: "⏳ ",
  working: "⚙️ ",
  attention: "✋ ",
  good: "✅ ",
  bad: "❌ ",
  plain: "",
};

const cut = (text: string, length: number): string =>
  text.length > length ? `${clip(text, length - 1)}…` : text;

/** Apps can't be mentioned, and another platform's id means somebody else on GitHub. */
function mentionOf(person: Person): string {
  const real = person.platform === platformName && /^[a-z\d](?:[a-z\d_-]*)$/i.test(person.id);
  return real ? `@${person.id}` : plainText(cut(person.name, maxSpanLength));
}

function linkOf(address: string, label: string): string {
  const text = plainText(cut(label, maxSpanLength));
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !["https:", "http:"].includes(url.protocol)) return text;
  return `[${text}](<${url.href.replaceAll("@", "%40")}>)`;
}

function spanOf(span: Span): string {
  if (typeof span === "string") return plainText(cut(span, maxSpanLength));
  if ("strong" in span) {
    const text = span.strong.trim();
    return text === "" ? "" : `**${plainText(cut(text, maxSpanLength))}**`;
  }
  if ("code" in span) return codeSpan(cut(span.code, maxSpanLength));
  if ("person" in span) return mentionOf(span.person);
  return linkOf(span.link, span.label);
}

const lineOf = (text: Text): string => text.map(spanOf).join("");

/** GitHub has no buttons, so a command stands in for each. */
const actionOf = ({ action, label }: Action): string =>
  `${plainText(cut(label, maxSpanLength))} with ${codeSpan(`/agent ${action}`)}`;

function detailsOf(details: readonly Text[]): string {
  let length = 0;
  const lines = details.map((detail) => `- ${lineOf(detail)}`);
  const kept = lines.filter((line) => {
    length += line.length + 1;
    return length <= maxDetailsLength;
  });
  return kept.join("\n");
}

/** Returns the answer defused and with its code block closed, in at most `room` characters. */
function answerOf(answer: string, room: number): string {
  const write = (text: string): string => {
    const safe = defuse(text);
    const fence = openFenceOf(safe);
    return fence === null ? safe : `${safe}\n${fence}`;
  };
  const whole = answer.length <= room ? write(answer) : null;
  if (whole !== null && whole.length <= room) return whole;
  // A cut after defusing could end a code span too early.
  let length = Math.min(answer.length, room);
  for (;;) {
    const written = `${write(clip(answer, length))}\n\n${cutNote}`;
    if (written.length <= room || length === 0) return written;
    length = Math.min(length - 1, Math.floor((length * room) / written.length));
  }
}

const addresses = (view: View, person: Person): boolean =>
  [view.headline, ...view.details]
    .flat()
    .some((span) => typeof span === "object" && "person" in span && span.person.id === person.id);

/**
 * Returns the view as GitHub Markdown of at most `maxLength` characters. `to` is mentioned at the start, unless
 * the view mentions that person already.
 */
export function markdownOf(
  view: View,
  options: { readonly maxLength: number; readonly to?: Person },
): string {
  const { to, maxLength } = options;
  const greeting = to === undefined || addresses(view, to) ? "" : `${mentionOf(to)} `;
  const above = [
    `${greeting}${signs[view.tone]}${lineOf(view.headline)}`,
    ...(view.quote === undefined ? [] : [quotation(cut(view.quote, maxQuoteLength))]),
  ];
  // The answer is last: what it leaves open, such as a <details>, can't swallow the bot's own lines.
  const ours = [
    ...above,
    ...(view.details.length > 0 ? [detailsOf(view.details)] : []),
    ...(view.actions.length > 0 ? [view.actions.map(actionOf).join(" · ")] : []),
  ];
  const separator = "\n\n";
  const room = maxLength - ours.join(separator).length - separator.length;
  const answer = view.answer === undefined ? [] : [answerOf(view.answer, room)];
  // GitHub may refuse half a character, and an agent may write one.
  return [...ours, ...answer].join(separator).toWellFormed();
}
