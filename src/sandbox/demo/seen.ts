/** What the demo reads of the page's state: as much as somebody sees who looks at the page. */
import { z } from "zod";
import { type RichNode, richTags } from "#sandbox/shown/rich-text.ts";

const richNode: z.ZodType<RichNode> = z.union([
  z.string(),
  z.object({
    tag: z.literal("a"),
    href: z.string(),
    get children() {
      return z.array(richNode);
    },
  }),
  z.object({
    tag: z.enum(richTags).exclude(["a"]),
    get children() {
      return z.array(richNode);
    },
  }),
]);

const block = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("rich"), content: z.array(richNode) }),
  z.object({ kind: z.literal("header"), text: z.string() }),
  z.object({ kind: z.literal("context"), parts: z.array(z.array(richNode)) }),
  z.object({ kind: z.literal("divider") }),
  z.object({
    kind: z.literal("buttons"),
    buttons: z.array(z.object({ actionId: z.string(), label: z.string() })),
  }),
]);

const reactions = z.array(z.object({ emoji: z.string(), by: z.array(z.string()) }));

const reply = z.object({
  ts: z.string(),
  author: z.string(),
  bot: z.boolean(),
  onlyFor: z.string().nullable(),
  blocks: z.array(block),
  reactions,
});
export type SeenReply = z.infer<typeof reply>;
const message = reply.extend({ replies: z.array(reply) });
export type SeenMessage = z.infer<typeof message>;

export const seenSlack = z.object({
  channels: z.array(z.object({ id: z.string(), hasBot: z.boolean(), messages: z.array(message) })),
});
export type SeenSlack = z.infer<typeof seenSlack>;

const comment = z.object({
  id: z.number(),
  author: z.string(),
  bot: z.boolean(),
  body: z.array(richNode),
  reactions,
});
export type SeenComment = z.infer<typeof comment>;

export const seenGitHub = z.object({
  issues: z.array(z.object({ number: z.number(), comments: z.array(comment) })),
});
export type SeenGitHub = z.infer<typeof seenGitHub>;

/** What came of an act. */
export const actAnswer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), status: z.number().nullable(), number: z.number().optional() }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);
