/** Block Kit as the page shows it. */
import { z } from "zod";
import { markdown } from "./markdown.ts";
import { mrkdwn, type NameOf } from "./mrkdwn.ts";
import { node, type RichNode } from "./rich-text.ts";

/** A button as the page shows it. */
export interface PageButton {
  readonly actionId: string;
  readonly label: string;
  readonly style: "default" | "primary" | "danger";
  /** The question before the press counts. */
  readonly confirm: {
    readonly title: string;
    readonly text: string;
    readonly confirm: string;
    readonly deny: string;
  } | null;
}

/** A block as the page shows it. */
export type PageBlock =
  | { readonly kind: "rich"; readonly look: "section" | "markdown"; readonly content: readonly RichNode[] }
  | { readonly kind: "header"; readonly text: string }
  | { readonly kind: "context"; readonly parts: readonly (readonly RichNode[])[] }
  | { readonly kind: "divider" }
  | { readonly kind: "buttons"; readonly buttons: readonly PageButton[] };

const text = z.object({ type: z.string(), text: z.string() });
const button = z.object({
  type: z.literal("button"),
  action_id: z.string(),
  text,
  style: z.enum(["primary", "danger"]).optional().catch(undefined),
  confirm: z.object({ title: text, text, confirm: text, deny: text }).optional(),
});
const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("section"), text }),
  z.object({ type: z.literal("header"), text }),
  z.object({ type: z.literal("markdown"), text: z.string() }),
  z.object({ type: z.literal("context"), elements: z.array(z.unknown()) }),
  z.object({ type: z.literal("divider") }),
  z.object({ type: z.literal("actions"), elements: z.array(z.unknown()) }),
]);
type Block = z.infer<typeof block>;

/** Returns the blocks for the page, with a note in place of an unknown one. */
export const pageBlocks = (blocks: readonly unknown[], nameOf: NameOf): readonly PageBlock[] =>
  blocks.map((each) => {
    const parsed = block.safeParse(each);
    if (parsed.success) return pageBlock(parsed.data, nameOf);
    return { kind: "context", parts: [["A block that the sandbox can't show."]] };
  });

function pageBlock(known: Block, nameOf: NameOf): PageBlock {
  switch (known.type) {
    case "section":
      return { kind: "rich", look: "section", content: ofText(known.text, nameOf) };
    case "header":
      return { kind: "header", text: known.text.text };
    case "markdown":
      return { kind: "rich", look: "markdown", content: markdown(known.text, { hideComments: false }) };
    case "context":
      return { kind: "context", parts: understood(known.elements, text).map((each) => ofText(each, nameOf)) };
    case "divider":
      return { kind: "divider" };
    case "actions":
      return { kind: "buttons", buttons: understood(known.elements, button).map(pageButton) };
    default:
      return known satisfies never;
  }
}

const ofText = (element: z.infer<typeof text>, nameOf: NameOf): readonly RichNode[] =>
  element.type === "mrkdwn" ? mrkdwn(element.text, nameOf) : [node("p", [element.text])];

const understood = <T extends z.ZodType>(elements: readonly unknown[], schema: T): z.infer<T>[] =>
  elements.flatMap((each) => {
    const parsed = schema.safeParse(each);
    return parsed.success ? [parsed.data] : [];
  });

const pageButton = ({ action_id, text: label, style, confirm }: z.infer<typeof button>): PageButton => ({
  actionId: action_id,
  label: label.text,
  style: style ?? "default",
  confirm:
    confirm === undefined
      ? null
      : {
          title: confirm.title.text,
          text: confirm.text.text,
          confirm: confirm.confirm.text,
          deny: confirm.deny.text,
        },
});
