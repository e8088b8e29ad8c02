/**
 * Text in Slack's wire format: `&`, `<` and `>` are escaped, and angle brackets contain mentions and links.
 * https://docs.slack.dev/messaging/formatting-message-text
 */

const escapes: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt);/g, (escaped) => escapes[escaped] ?? escaped);

/** Returns the text as people see it: without escapes, with mentions and links as shown. */
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

/** Slack makes `foo.py` a link to http://foo.py: then the label alone is what the person typed. */
function plainLink(url: string, label: string): string {
  if (label === "" || label === url) return url;
  const bare = url.replace(/^(?:https?:\/\/|mailto:|tel:)/i, "").replace(/\/$/, "");
  return bare === label.replace(/\/$/, "") ? label : `${label} (${url})`;
}

const mentionOf = (userId: string): RegExp => new RegExp(`<@${userId}(?:\\|[^<>]*)?>`, "g");

/** Whether the text mentions the user. */
export const mentions = (wire: string, userId: string): boolean => mentionOf(userId).test(wire);

/** Returns the text, still in wire format, without mentions of the user and the colon after a leading one. */
export function withoutMention(wire: string, userId: string): string {
  const mention = mentionOf(userId).source;
  return wire
    .replace(new RegExp(`^\\s*${mention}[:,]?\\s*`), "")
    .replaceAll(new RegExp(`${mention}[ \\t]*`, "g"), "")
    .trim();
}
