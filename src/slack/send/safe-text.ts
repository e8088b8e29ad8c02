/** Makes text from people and agents unable to mention anybody or to become markup. */

/** A zero-width space, which separates two characters invisibly. */
export const breaker = "\u200b";

/** Not only as whole words: a cut may follow. */
const broadcasts = "(?:channel|here|everyone|group)";

/**
 * Returns text that looks the same and mentions nobody. Markdown can write `@` in several ways (`&#64;`, `\@`), so
 * every `<!` and `<@` is broken, and every keyword after `!` or `@`. Half a character is replaced, since Slack may
 * refuse the whole message for it.
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

/** Returns plain text as mrkdwn. https://docs.slack.dev/messaging/formatting-message-text#escaping */
export const harmless = (text: string): string =>
  silence(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
