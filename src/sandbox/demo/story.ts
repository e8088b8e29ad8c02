/** The demo's story, from the first command to a cancelled run. */
import type { PageComment, PageMessage } from "#sandbox/shown/page-state.ts";
import { partsOf } from "./observer.ts";
import type { Transcript } from "./transcript.ts";
import type { Seen, Visitor } from "./visitor.ts";

/** Plays the story. Rejects with a sentence if something expected does not happen. */
export async function tellStory(visitor: Visitor, transcript: Transcript): Promise<void> {
  await runInSlack(visitor, transcript);
  await runOnGitHub(visitor, transcript);
  await cancelInSlack(visitor, transcript);
}

const general = ({ slack }: Seen) => slack.channels.find(({ hasBot }) => hasBot);
const channelOf = (visitor: Visitor): Promise<string> =>
  visitor.until("a channel with the bot", (seen) => general(seen)?.id);

/** The bot's cards in the channel, oldest first. */
const cards = (seen: Seen): readonly PageMessage[] =>
  (general(seen)?.messages ?? []).filter(({ bot, onlyFor }) => bot && onlyFor === null);
const botReplies = ({ replies }: PageMessage): readonly PageMessage[] => replies.filter(({ bot }) => bot);
const says = (card: PageMessage, word: string): boolean => partsOf(card)[0]?.includes(word) ?? false;

async function runInSlack(visitor: Visitor, transcript: Transcript): Promise<void> {
  transcript.heading("In Slack, alice asks for a run");
  const channel = await channelOf(visitor);
  const text = "/agent run fix the flaky test";
  transcript.line("Slack", "alice", text);
  await visitor.act("slack/say", { user: "alice", channel, text });
  const card = await visitor.until("the card", (seen) => cards(seen)[0]);
  const now = (seen: Seen) => cards(seen).find(({ ts }) => ts === card.ts);
  const after = (seen: Seen, replies: number) => {
    const one = now(seen);
    return one !== undefined && says(one, "Succeeded") && botReplies(one).length >= replies ? one : undefined;
  };
  await visitor.until("the run's success, in its card and in a reply", (seen) => after(seen, 1));

  transcript.heading("alice replies in the thread, and the run continues");
  const reply = "And add a regression test, please";
  transcript.line("Slack", "alice", reply);
  await visitor.act("slack/say", { user: "alice", channel, text: reply, thread: card.ts });
  await visitor.until("the answer to the reply", (seen) => after(seen, 2));
}

async function runOnGitHub(visitor: Visitor, transcript: Transcript): Promise<void> {
  transcript.heading("On GitHub, bob opens an issue and adds the label `agent`");
  const title = "Search finds nothing for words with accents";
  transcript.line("GitHub", "bob", `opens the issue “${title}”`);
  const body = "Searching for `café` finds nothing, `cafe` does. It worked in **1.4**.";
  const issue = await visitor.act("github/open", { user: "bob", title, body });
  transcript.line("GitHub", "bob", "adds the label `agent`");
  await visitor.act("github/label", { user: "bob", issue, label: "agent", on: true });
  const comments = (seen: Seen): readonly PageComment[] =>
    (seen.github.issues.find(({ number }) => number === issue)?.comments ?? []).filter(({ bot }) => bot);
  const atLeast = (count: number) => (seen: Seen) => comments(seen)[count - 1];
  await visitor.until("the comment that shows the run", atLeast(1));
  await visitor.until("the answer on the issue", atLeast(2));

  transcript.heading("alice comments on the issue, and the run continues");
  const comment = "Please keep the search's public interface as it is.";
  transcript.line("GitHub", "alice", comment);
  await visitor.act("github/comment", { user: "alice", issue, body: comment });
  await visitor.until("the answer to the comment", atLeast(3));
}

async function cancelInSlack(visitor: Visitor, transcript: Transcript): Promise<void> {
  transcript.heading("In Slack, bob starts a run and cancels it");
  const channel = await channelOf(visitor);
  const text = "/agent run rewrite everything at once";
  transcript.line("Slack", "bob", text);
  const before = await visitor.until("the cards so far", (seen) => cards(seen).length);
  await visitor.act("slack/say", { user: "bob", channel, text });
  const card = await visitor.until("a card of a run at work, with a button to cancel", (seen) =>
    cards(seen)
      .slice(before)
      .find((one) => says(one, "In progress") && hasButton(one, "cancel")),
  );
  transcript.line("Slack", "bob", "presses Cancel");
  await visitor.act("slack/press", { user: "bob", channel, ts: card.ts, action: "cancel" });
  await visitor.until("the end of the cancelled run", (seen) => {
    const now = cards(seen).find(({ ts }) => ts === card.ts);
    return now !== undefined && says(now, "Cancelled") && botReplies(now).length > 0 ? now : undefined;
  });
}

const hasButton = ({ blocks }: PageMessage, action: string): boolean =>
  blocks.some(
    (block) => block.kind === "buttons" && block.buttons.some(({ actionId }) => actionId === action),
  );
