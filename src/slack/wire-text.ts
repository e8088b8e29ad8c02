/**
 * Slack's way of writing text on the wire: `&`, `<` and `>` are escaped, and what stands between angle
 * brackets is a mention or a link. https://docs.slack.dev/messaging/formatting-message-text
 */

const escapes: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt);/g, (escaped) => escapes[escaped] ?? escaped);

/** What a person would read: escapes undone, mentions and links as they look. */
export function plainText(wire: string): string {
  return wire
    .split(/(<[^<>]*>)/)
    .map((part) => (part.startsWith("<") && part.endsWith(">") ? plainToken(part) : unescaped(part)))
    .join("");
}

function plainToken(token: string): string {
  const inside = token.slice(1, -1);
  const bar = inside.indexOf("|");
  const target = unescaped(bar < 0 ? inside : inside.slice(0, bar));
  const label = bar < 0 ? "" : unescaped(inside.slice(bar + 1));
  if (/^@[UW]/.test(target)) return label ? `@${label.replace(/^@/, "")}` : target;
  if (/^#[CGD]/.test(target)) return label ? `#${label.replace(/^#/, "")}` : target;
  if (target.startsWith("!")) return plainSpecial(target.slice(1), label);
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return plainLink(target, label);
  return unescaped(token);
}

function plainSpecial(target: string, label: string): string {
  const [kind = "", argument = ""] = target.split("^");
  if (kind === "date") return label;
  if (kind === "subteam") return label ? `@${label.replace(/^@/, "")}` : `@${argument}`;
  return `@${kind}`;
}

/** `foo.py` is sent as a link to http://foo.py: what the person typed is the label then, without a link. */
function plainLink(url: string, label: string): string {
  if (label === "" || label === url) return url;
  const bare = url.replace(/^(?:https?:\/\/|mailto:|tel:)/i, "").replace(/\/$/, "");
  return bare === label.replace(/\/$/, "") ? label : `${label} (${url})`;
}

const mentionOf = (userId: string): RegExp => new RegExp(`<@${userId}(?:\\|[^<>]*)?>`, "g");

export const mentions = (wire: string, userId: string): boolean => mentionOf(userId).test(wire);

/** The same text on the wire without the mention; the colon or comma after a leading one goes with it. */
export function withoutMention(wire: string, userId: string): string {
  const mention = mentionOf(userId).source;
  return wire
    .replace(new RegExp(`^\\s*${mention}[:,]?\\s*`), "")
    .replaceAll(new RegExp(`${mention}[ \\t]*`, "g"), "")
    .trim();
}
