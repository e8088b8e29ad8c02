import type { Button, KnownBlock, MrkdwnElement } from "@slack/types";
import { clip } from "#base/clip.ts";
import type { Action, Text, View } from "#core/view.ts";
import { mrkdwn, quotation } from "./mrkdwn.ts";
import { harmless, silence } from "./safe-text.ts";

/**
 * Slack's limits, in characters or counts. https://docs.slack.dev/reference/block-kit/blocks; the markdown
 * blocks of one message share their 12,000. `plain` is the bot's own limit: a message that was refused as too long
 * must get shorter.
 */
const limits = {
  section: 3_000,
  markdown: 12_000,
  plain: 9_000,
  blocks: 50,
  buttons: 25,
  label: 75,
  fallback: 300,
};

const signs: Readonly<Record<View["tone"], string>> = {
  waiting: ":hourglass_flowing_sand: ",
  working: ":gear: ",
  attention: ":raised_hand: ",
  good: ":white_check_mark: ",
  bad: ":x: ",
  plain: "",
};

/** Prefix of the block ids of an answer in plain text, by which the bot recognises them when it reads a thread. */
export const plainAnswerId = "answer-";

/** A message for Slack; `text` is for notifications and screen readers. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: KnownBlock[];
}

/** Returns the view as a message, with the answer as Markdown. */
export const toMessage = (view: View): SlackMessage =>
  compose(view, (answer) => [{ type: "markdown", text: markdown(answer) }]);

/** Returns the view as a message, with the answer as plain text. */
export const toPlainMessage = (view: View): SlackMessage => compose(view, plainSections);

function compose(view: View, show: (answer: string) => readonly KnownBlock[]): SlackMessage {
  const quote = view.quote === undefined ? "" : quotation(view.quote, limits.section);
  const answer = view.answer === undefined ? "" : view.answer.trim();
  const head: KnownBlock[] = [
    section(signs[view.tone] + (mrkdwn(view.headline, limits.section - 40) || "…")),
    ...(quote === "" ? [] : [section(quote)]),
    ...(answer === "" ? [] : show(answer)),
  ];
  const foot = rows(view.actions);
  const details = sections(view.details, limits.blocks - head.length - foot.length);
  return {
    text: mrkdwn(view.headline, limits.fallback) || "…",
    blocks: [...head, ...details, ...foot],
  };
}

/** `verbatim`: Slack does not turn names and addresses into links. */
const section = (text: string): KnownBlock => {
  const element: MrkdwnElement = { type: "mrkdwn", text, verbatim: true };
  return { type: "section", text: element };
};

const cutNote = "\n\n*The answer is longer than Slack allows; the rest was left out.*";

/** Returns the agent's Markdown without mentions, cut visibly. */
function markdown(answer: string): string {
  const silent = silence(answer);
  if (silent.length <= limits.markdown) return silent;
  const fence = "\n```";
  const kept = clip(silent, limits.markdown - cutNote.length - fence.length);
  // A code block that the cut left open would swallow the note.
  const open = (kept.match(/^ {0,3}```/gm)?.length ?? 0) % 2 === 1;
  return kept + (open ? fence : "") + cutNote;
}

/** Returns sections of plain text, cut visibly. */
function plainSections(answer: string): KnownBlock[] {
  // Escaping makes at most five characters of one.
  const surelyFits = limits.section / 5;
  const texts: string[] = [];
  let rest = answer;
  let room = limits.plain;
  while (rest !== "") {
    const most = clip(rest, limits.section);
    const piece = harmless(most).length <= limits.section ? most : clip(rest, surelyFits);
    const text = harmless(piece);
    if (text.length > room) break;
    if (piece.trim() !== "") texts.push(text);
    room -= text.length;
    rest = rest.slice(piece.length);
  }
  if (rest !== "") texts.push(cutNote.trim().replaceAll("*", "_"));
  return texts.map((text, index) => ({ ...section(text), block_id: `${plainAnswerId}${index}` }));
}

/** Returns sections with one detail a line. */
function sections(details: readonly Text[], room: number): KnownBlock[] {
  const texts: string[] = [];
  for (const detail of details) {
    const line = mrkdwn(detail, limits.section);
    if (line === "") continue;
    const last = texts.at(-1);
    if (last !== undefined && last.length + 1 + line.length <= limits.section) {
      texts[texts.length - 1] = `${last}\n${line}`;
    } else {
      texts.push(line);
    }
  }
  if (texts.length <= room) return texts.map(section);
  return [...texts.slice(0, room - 1), "… and more that does not fit here."].map(section);
}

/** Returns rows of buttons: an action's name may appear only once in each row. */
function rows(actions: readonly Action[]): KnownBlock[] {
  const all: Button[][] = [];
  for (const action of actions) {
    const row = all.find((buttons) => buttons.every((button) => button.action_id !== action.action));
    if (row !== undefined && row.length < limits.buttons) row.push(button(action));
    else all.push([button(action)]);
  }
  return all.slice(0, 10).map((elements) => ({ type: "actions", elements }));
}

function button({ action, label, dispatch }: Action): Button {
  const plain = (text: string) => ({ type: "plain_text" as const, text });
  const base: Button = {
    type: "button",
    action_id: action,
    value: dispatch,
    text: plain(clip(label, limits.label) || action),
  };
  switch (action) {
    case "retry":
      return base;
    case "cancel":
      return {
        ...base,
        style: "danger",
        confirm: {
          title: plain("Cancel the run?"),
          text: plain("The agent stops, and its work so far stays as it is."),
          confirm: plain("Cancel the run"),
          deny: plain("Let it work"),
          style: "danger",
        },
      };
    default:
      return action satisfies never;
  }
}
