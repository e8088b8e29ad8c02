/** The events of the presets that print them. What is not as it is described here is passed over. */
import { z } from "zod";
import type { ReadEvent, Told } from "./event-lines.ts";

const claudeBlock = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.looseObject({}).optional(),
});
const claudeEvent = z.union([
  z.looseObject({
    type: z.literal("assistant"),
    message: z.looseObject({ content: z.array(claudeBlock) }),
    /** Of an agent that the agent has called: its words are not the answer. */
    parent_tool_use_id: z.string().nullish(),
  }),
  z.looseObject({
    type: z.literal("result"),
    is_error: z.boolean().optional(),
    subtype: z.string().optional(),
    result: z.string().optional(),
    errors: z.array(z.string()).optional(),
  }),
]);

/** `--output-format=stream-json`, https://code.claude.com/docs/en/headless. */
export const readClaude: ReadEvent = (value) => {
  const { data: event } = claudeEvent.safeParse(value);
  if (event === undefined) return [];
  if (event.type === "result") {
    if (!event.is_error) return event.result === undefined ? [] : [{ kind: "answered", text: event.result }];
    return [{ kind: "failed", text: event.result || event.errors?.join("; ") || (event.subtype ?? "") }];
  }
  return event.message.content.flatMap((block): Told[] => {
    if (block.type === "tool_use") return [{ kind: "did", text: deedOf(block.name ?? "", block.input) }];
    if (block.type !== "text" || !block.text?.trim()) return [];
    return [{ kind: event.parent_tool_use_id ? "did" : "said", text: block.text }];
  });
};

/** Whichever of these a tool is given tells best what it does. */
const tellingInputs = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt"];

function deedOf(tool: string, input: Readonly<Record<string, unknown>> = {}): string {
  const what = tellingInputs.map((name) => input[name]).find((each) => typeof each === "string");
  return what === undefined ? tool : `${tool}: ${String(what)}`;
}

const codexItem = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  command: z.string().optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
  query: z.string().optional(),
  changes: z.array(z.looseObject({ path: z.string() })).optional(),
});
const codexEvent = z.union([
  z.looseObject({ type: z.enum(["item.started", "item.completed"]), item: codexItem }),
  z.looseObject({ type: z.literal("turn.failed"), error: z.looseObject({ message: z.string() }) }),
]);

/** `--json`, https://developers.openai.com/codex/noninteractive. */
export const readCodex: ReadEvent = (value) => {
  const { data: event } = codexEvent.safeParse(value);
  if (event === undefined) return [];
  if (event.type === "turn.failed") return [{ kind: "failed", text: event.error.message }];
  const { item } = event;
  if (event.type === "item.started") {
    return item.type === "command_execution" ? [{ kind: "did", text: item.command ?? "" }] : [];
  }
  switch (item.type) {
    case "agent_message":
      return item.text?.trim() ? [{ kind: "said", text: item.text }] : [];
    case "file_change":
      return [{ kind: "did", text: `edit: ${item.changes?.map(({ path }) => path).join(", ") ?? ""}` }];
    case "mcp_tool_call":
      return [{ kind: "did", text: `${item.server ?? ""}: ${item.tool ?? ""}` }];
    case "web_search":
      return [{ kind: "did", text: `search: ${item.query ?? ""}` }];
    default:
      return [];
  }
};
