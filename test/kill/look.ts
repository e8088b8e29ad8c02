/** The part of the visible state that people react to. */
import type { SlackChannel, SlackMessage } from "#sandbox/slack/workspace.ts";
import type { Town } from "./town.ts";

/** A card in Slack. */
export interface SlackCard {
  readonly channel: string;
  readonly ts: string;
  /** First message of its thread. */
  readonly root: string;
  readonly dispatch: string;
  readonly text: string;
}

export interface Screen {
  readonly slackCards: readonly SlackCard[];
  /** Numbers of the issues on which a card stands. */
  readonly issues: readonly number[];
}

/** A snapshot of all messages is slow, so people look only this often. */
const freshMs = 400;

export function createLook(town: Town): () => Screen {
  let seen: Screen = { slackCards: [], issues: [] };
  let seenAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - seenAt < freshMs) return seen;
    const { channels } = town.slack.snapshot();
    const { comments, bot } = town.github.snapshot();
    const carded = comments.filter(({ user, body }) => user === bot && body.includes("%2Fcard%2F"));
    seen = {
      slackCards: channels.flatMap((channel) =>
        channel.messages.flatMap((message) => cardIn(channel, message)),
      ),
      issues: [...new Set(carded.map(({ issue }) => issue))],
    };
    seenAt = performance.now();
    return seen;
  };
}

function cardIn(channel: SlackChannel, message: SlackMessage): SlackCard[] {
  const effect = effectOf(message);
  if (effect === null || !effect.includes("/card/")) return [];
  return [
    {
      channel: channel.id,
      ts: message.ts,
      root: message.thread_ts ?? message.ts,
      dispatch: effect.slice(0, effect.lastIndexOf("/card/")),
      text: writtenIn(message),
    },
  ];
}

/** The effect in the message's metadata; null for other people's messages. */
export function effectOf({ metadata }: SlackMessage): string | null {
  const { event_payload: payload } = Object(metadata);
  const { effect } = Object(payload);
  return typeof effect === "string" ? effect : null;
}

/** Returns all text of a message, blocks included. */
export const writtenIn = ({ text, blocks }: Pick<SlackMessage, "text" | "blocks">): string =>
  `${text}\n${JSON.stringify(blocks ?? [])}`;

/** The run that a card names. */
export const runIn = (text: string): string | null => /run `([\w-]{36})`/i.exec(text)?.[1] ?? null;
