/** Reads the bot's Slack messages as people see them. */
import { z } from "zod";
import type { Action, Span, Text, View } from "#core/view.ts";

const button = z.object({
  action_id: z.enum(["cancel", "retry"]),
  value: z.string(),
  text: z.object({ text: z.string() }),
});
const block = z.object({
  type: z.string(),
  block_id: z.string().optional(),
  text: z.union([z.string(), z.object({ text: z.string() })]).optional(),
  elements: z.array(button).optional(),
});

const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&").replaceAll("\u200b", "");

const plain = (text: string): string => unescaped(text.replaceAll(/[*`]([^*`]*)[*`]/g, "$1"));

/** The line's words and links. */
function textOf(line: string): Text {
  return line
    .split(/(<[^<>]*>)/)
    .filter((part) => part !== "")
    .map((part): Span => {
      const [, link, label] = /^<(https?:[^|>]*)\|([^>]*)>$/.exec(part) ?? [];
      if (link !== undefined) return { link: unescaped(link), label: plain(label ?? "") };
      return plain(part.replace(/^<@(\w+)>$/, "@$1"));
    });
}

/** `value`: the message's blocks. */
export function viewInBlocks(value: unknown): View {
  const blocks = z.array(block).parse(value);
  let [headline, quote, answer]: [Text, string | null, string | null] = [[], null, null];
  const details: Text[] = [];
  const actions: Action[] = [];
  for (const [index, { type, block_id = "", text, elements = [] }] of blocks.entries()) {
    const shown = typeof text === "string" ? text : (text?.text ?? "");
    if (index === 0) headline = textOf(shown.replace(/^:\w+: /, ""));
    else if (type === "markdown") answer = shown.replaceAll("\u200b", "");
    else if (block_id.startsWith("answer-")) answer = (answer ?? "") + unescaped(shown);
    else if (type === "actions") {
      for (const { action_id, value: dispatch, text: label } of elements)
        actions.push({ action: action_id, label: label.text, dispatch });
    } else if (index === 1 && shown.startsWith("> ")) quote = shown;
    else details.push(...shown.split("\n").map(textOf));
  }
  return {
    tone: "plain",
    headline,
    details,
    actions,
    ...(quote === null ? {} : { quote }),
    ...(answer === null ? {} : { answer }),
  };
}
