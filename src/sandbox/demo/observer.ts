/** Prints the bot's actions in the sandbox. */
import type { GitHubState, PageMessage, SlackState } from "#sandbox/shown/page-state.ts";
import { plainOf, type RichNode } from "#sandbox/shown/rich-text.ts";
import type { Transcript } from "./transcript.ts";

/** The parts of a message as plain text; the first is its headline. */
export function partsOf(message: PageMessage): readonly string[] {
  return message.blocks.flatMap((block) => {
    switch (block.kind) {
      case "rich":
        return linesOf(block.content);
      case "header":
        return [block.text];
      case "context":
        return block.parts.map(plainOf);
      case "divider":
        return [];
      case "buttons":
        return [block.buttons.map(({ label }) => `[${label}]`).join(" ")];
      default:
        return block satisfies never;
    }
  });
}

/** One line per paragraph and per list item. */
const linesOf = (nodes: readonly RichNode[]): readonly string[] =>
  nodes.flatMap((each) => {
    if (typeof each === "string") return [each];
    if (each.tag === "ul" || each.tag === "ol") return each.children.map((item) => `- ${plainOf([item])}`);
    if (each.tag === "hr") return [];
    return [each.tag === "blockquote" ? `> ${plainOf([each]).trim()}` : plainOf([each])];
  });

type Where = "Slack" | "GitHub";
type Reacted = Pick<PageMessage, "reactions" | "author">;

/** Prints each new message of the bot, and its headline whenever that changes. */
export function createObserver(transcript: Transcript) {
  const known = new Map<string, string>();

  function see(where: Where, who: string, id: string, parts: readonly string[], note: string): void {
    const [headline = ""] = parts;
    const before = known.get(id);
    known.set(id, headline);
    if (before === undefined) transcript.line(where, who, `${note}${parts.join("\n")}`);
    else if (before !== headline) transcript.line(where, who, `the card now says: ${headline}`);
  }
  function seeReactions(where: Where, id: string, { reactions, author }: Reacted): void {
    for (const { emoji, who } of reactions.flatMap(({ emoji, by }) => by.map((who) => ({ emoji, who })))) {
      const key = `${id} ${emoji} ${who}`;
      if (!known.has(key)) transcript.line(where, who, `reacts with ${emoji} to ${author}'s message`);
      known.set(key, emoji);
    }
  }

  return {
    slack({ channels }: SlackState): void {
      for (const message of channels.flatMap(({ messages }) => messages)) {
        const note = message.onlyFor === null ? "posts a card: " : `tells ${message.onlyFor} privately: `;
        if (message.bot) see("Slack", message.author, message.ts, partsOf(message), note);
        for (const reply of message.replies) {
          if (reply.bot) see("Slack", reply.author, reply.ts, partsOf(reply), "replies in the thread: ");
          seeReactions("Slack", reply.ts, reply);
        }
      }
    },
    gitHub({ issues }: GitHubState): void {
      for (const comment of issues.flatMap(({ comments }) => comments)) {
        const id = `comment ${comment.id}`;
        if (comment.bot) see("GitHub", comment.author, id, linesOf(comment.body), "comments: ");
        seeReactions("GitHub", id, comment);
      }
    },
  };
}
