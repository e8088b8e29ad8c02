import type { CardEffect, PlatformEffect, ReplyEffect, TellEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { placeAt } from "#core/place.ts";
import type { Span, Text, View } from "#core/view.ts";
import type { Attempt, Platform } from "#ports.ts";
import { ChatError, type Client, connectTo, encode, messageOf } from "./lines.ts";
import { addressOf, eventOf, platformName } from "./receive.ts";

/** Breaks unintended mentions, such as `@everyone` in an agent's answer. */
const quiet = (text: string): string => text.replaceAll("@", "@\u200b");

function spanText(span: Span): string {
  if (typeof span === "string") return quiet(span);
  if ("strong" in span) return quiet(span.strong);
  if ("code" in span) return quiet(span.code);
  if ("person" in span) return `@${span.person.id}`;
  return `${quiet(span.label)} (${span.link})`;
}
const lineOfText = (text: Text): string => text.map(spanText).join("");

/** Returns a view as plain lines; each button becomes the command to write. */
export const textOf = ({ headline, quote, answer, details, actions }: View): string =>
  [
    lineOfText(headline),
    ...(quote === undefined ? [] : [`> ${quiet(quote)}`]),
    ...(answer === undefined ? [] : [quiet(answer)]),
    ...details.map(lineOfText),
    ...actions.map(({ action, label }) => `${label}: /agent ${action}`),
  ].join("\n");

/** The sending side of the line chat. It opens its own connection when it first needs one. */
export function createSender(address: string, hello: string, bot: string): Platform {
  let connecting: Promise<Client> | null = null;

  function connected(): Promise<Client> {
    if (connecting !== null) return connecting;
    const opening = connectTo(address, hello);
    connecting = opening;
    const forget = (): void => {
      if (connecting === opening) connecting = null;
    };
    opening.then(({ closed }) => closed).then(forget, forget);
    return opening;
  }
  const request = async (line: string): Promise<string> => (await connected()).request(line);
  const messagesIn = (lines: string) => (lines === "" ? [] : lines.split("\n").map(messageOf));
  const keyOf = ({ id }: { readonly id: string }): string => encodeURIComponent(id);

  /** Posts the view, or finds the message that an earlier try posted. */
  async function post(effect: CardEffect | ReplyEffect, { uncertain }: Attempt) {
    const found = uncertain ? await request(`find ${keyOf(effect)}`) : "";
    if (found !== "") return { id: found, found: true };
    const id = await request(`post ${addressOf(effect.at)} ${keyOf(effect)} ${encode(textOf(effect.view))}`);
    return { id, found: false };
  }

  async function tell(effect: TellEffect, { uncertain }: Attempt): Promise<void> {
    if (uncertain && (await request(`find ${keyOf(effect)}`)) !== "") return;
    await request(`whisper ${effect.person.id} ${keyOf(effect)} ${encode(textOf(effect.view))}`);
  }

  async function perform(effect: PlatformEffect, attempt: Attempt): Promise<Outcome> {
    switch (effect.kind) {
      case "card": {
        const { at, view, revision } = effect;
        const { id, found } =
          effect.message === undefined ? await post(effect, attempt) : { id: effect.message, found: true };
        if (found) await request(`edit ${id} ${encode(textOf(view))}`);
        return { ok: true, kind: "card", revision, message: id, place: placeAt(at) };
      }
      case "reply":
        return { ok: true, kind: "reply", message: (await post(effect, attempt)).id };
      case "tell":
        await tell(effect, attempt);
        return { ok: true, kind: "tell" };
      case "react":
        await request(`mark ${effect.message} ${effect.reaction}`);
        return { ok: true, kind: "react" };
      case "label":
        return { ok: true, kind: "label", revision: effect.revision };
      case "twin-posts":
        return { ok: true, kind: "twin-posts", ended: [] };
      case "permission":
        return { ok: true, kind: "permission", permission: "write" };
      case "read": {
        const said = messagesIn(await request(`thread ${addressOf(effect.at)}`));
        const messages = said
          .filter(({ id, atMs }) => id !== effect.except && atMs <= Date.parse(effect.until))
          .map(({ name, atMs, text }) => ({
            author: name,
            at: new Date(atMs).toISOString(),
            text,
            bot: name === bot,
          }));
        return { ok: true, kind: "read", messages, omitted: 0 };
      }
      default:
        return effect satisfies never;
    }
  }

  return {
    name: platformName,
    async perform(effect, attempt) {
      try {
        return await perform(effect, attempt);
      } catch (error) {
        if (!(error instanceof ChatError)) throw error;
        const { certainty, message } = error;
        return { ok: false, fault: { certainty, retryable: certainty !== "refused", reason: message } };
      }
    },
    async check() {
      await request("find nothing");
    },
    async missed({ since }) {
      return messagesIn(await request(`since ${Date.parse(since)}`)).map((message) => eventOf(message, bot));
    },
  };
}
