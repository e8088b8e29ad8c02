/** What is new in the sandbox, told as it is seen. */
import { plainOf, type RichNode } from "#sandbox/shown/rich-text.ts";
import type { SeenGitHub, SeenReply, SeenSlack } from "./seen.ts";
import type { Transcript } from "./transcript.ts";

/** The parts of a message, each in plain words; the first is its headline. */
export function partsOf(message: SeenReply): readonly string[] {
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

/** A line for each paragraph and each item of a list. */
const linesOf = (nodes: readonly RichNode[]): readonly string[] =>
  nodes.flatMap((each) => {
    if (typeof each === "string") return [each];
    if (each.tag === "ul" || each.tag === "ol") return each.children.map((item) => `- ${plainOf([item])}`);
    return each.tag === "hr"
      ? []
      : [each.tag === "blockquote" ? `> ${plainOf([each]).trim()}` : plainOf([each])];
  });

/** Tells of everything by the bot that was not there before, or was different. */
export function createObserver(transcript: Transcript) {
  const known = new Map<string, string>();

  /** `headline`: what is told of a change, whereas all of it is told of something new. */
  function see(
    where: "Slack" | "GitHub",
    who: string,
    id: string,
    parts: readonly string[],
    note: string,
  ): void {
    const [headline = ""] = parts;
    const before = known.get(id);
    known.set(id, headline);
    if (before === undefined) transcript.line(where, who, `${note}${parts.join("\n")}`);
    else if (before !== headline) transcript.line(where, who, `the card now says: ${headline}`);
  }
  function seeReactions(
    where: "Slack" | "GitHub",
    id: string,
    reactions: SeenReply["reactions"],
    author: string,
  ): void {
    for (const { emoji, by } of reactions) {
      for (const who of by) {
        const key = `${id} ${emoji} ${who}`;
        if (!known.has(key)) transcript.line(where, who, `reacts with ${emoji} to ${author}'s message`);
        known.set(key, emoji);
      }
    }
  }

  return {
    slack({ channels }: SeenSlack): void {
      for (const message of channels.flatMap(({ messages }) => messages)) {
        const note = message.onlyFor === null ? "posts a card: " : `tells ${message.onlyFor} privately: `;
        if (message.bot) see("Slack", message.author, message.ts, partsOf(message), note);
        for (const reply of message.replies) {
          if (reply.bot) see("Slack", reply.author, reply.ts, partsOf(reply), "replies in the thread: ");
          seeReactions("Slack", reply.ts, reply.reactions, reply.author);
        }
      }
    },
    gitHub({ issues }: SeenGitHub): void {
      for (const comment of issues.flatMap(({ comments }) => comments)) {
        const id = `comment ${comment.id}`;
        if (comment.bot) see("GitHub", comment.author, id, linesOf(comment.body), "comments: ");
        seeReactions("GitHub", id, comment.reactions, comment.author);
      }
    },
  };
}
