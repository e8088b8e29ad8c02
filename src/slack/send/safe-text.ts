/** Making text that somebody else wrote harmless: it can neither ping anybody nor become markup. */

/** Invisible; between two characters it keeps Slack from reading them as one sign. */
export const breaker = "\u200b";

/** Also as a word's beginning: a cut may come after it. */
const broadcasts = "(?:channel|here|everyone|group)";

/**
 * The same text to the eye, unable to mention. Markdown has several ways to write one sign (`&#64;`, `\@`),
 * so key words are broken wherever they stand after `!` or `@`, besides every `<!` and `<@`.
 * Half a character, for which Slack may refuse the whole message, is replaced.
 */
export const silence = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/&(?:#0*33|#x0*21|excl);/gi, "!")
    .replaceAll(/&(?:#0*64|#x0*40|commat);/gi, "@")
    .replaceAll(/<(?=[!@])/g, `<${breaker}`)
    .replaceAll(new RegExp(`!(?=${broadcasts}|subteam)`, "gi"), `!${breaker}`)
    .replaceAll(new RegExp(`@(?=${broadcasts})`, "gi"), `@${breaker}`)
    .replaceAll(/@(?=[UWS][A-Z0-9]{3,})/g, `@${breaker}`);

/** Plain text as it stands in mrkdwn. https://docs.slack.dev/messaging/formatting-message-text#escaping */
export const harmless = (text: string): string =>
  silence(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The first `limit` UTF-16 units at most, never half a character. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, Math.max(0, limit));
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
