/** Slack's checks of Block Kit, as far as they matter to the bot. */
import { z } from "zod";

const plain = (max: number) => z.object({ type: z.literal("plain_text"), text: z.string().min(1).max(max) });
const text = (max: number) =>
  z.object({ type: z.enum(["mrkdwn", "plain_text"]), text: z.string().min(1).max(max) });

const button = z.object({
  type: z.literal("button"),
  action_id: z.string().max(255),
  value: z.string().max(2000).optional(),
  text: plain(75),
  style: z.enum(["primary", "danger"]).optional(),
  confirm: z.object({ title: plain(100), text: text(300), confirm: plain(30), deny: plain(30) }).optional(),
});

const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("section"), text: text(3000) }),
  z.object({ type: z.literal("header"), text: plain(150) }),
  z.object({ type: z.literal("markdown"), text: z.string().min(1) }),
  z.object({ type: z.literal("context"), elements: z.array(text(3000)).min(1).max(10) }),
  z.object({ type: z.literal("divider") }),
  z.object({
    type: z.literal("actions"),
    elements: z
      .array(button)
      .min(1)
      .max(25)
      .refine((all) => new Set(all.map(({ action_id }) => action_id)).size === all.length, "action_id twice"),
  }),
]);

/** Counts a markdown block's tables, by the lines below their headers. */
const tablesIn = (each: z.infer<typeof block>): number =>
  each.type === "markdown" ? (each.text.match(/^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$/gm) ?? []).length : 0;

const blocks = z
  .array(block)
  .max(50)
  .refine(
    (all) => all.reduce((sum, each) => sum + (each.type === "markdown" ? each.text.length : 0), 0) <= 12_000,
    "markdown blocks hold more than 12000 characters",
  )
  .refine((all) => all.reduce((sum, each) => sum + tablesIn(each), 0) <= 1, "only one table is allowed");

/** Slack's error messages for the blocks; empty if they are valid. */
export function faultsOfBlocks(value: unknown): readonly string[] {
  const parsed = blocks.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(
    (issue) => `[ERROR] ${issue.message} [json-pointer:/blocks/${issue.path.join("/")}]`,
  );
}
