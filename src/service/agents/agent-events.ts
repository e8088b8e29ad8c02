/** Reads the JSON events of Claude Code and Codex. Unknown events are ignored. */
import { z } from "zod";
import type { AgentEvent, ReadEvent } from "./json-lines.ts";

/** A value of another type counts as absent, so that the rest of the event is still read. */
const text = z.string().optional().catch(undefined);

const claudeBlock = z.looseObject({
  type: z.string(),
  text,
  name: text,
  input: z.looseObject({}).optional().catch(undefined),
});
const claudeEvent = z.union([
  z.looseObject({
    type: z.literal("assistant"),
    message: z.looseObject({ content: z.array(claudeBlock) }),
    /** Set for a subagent, whose text is not the answer. */
    parent_tool_use_id: text,
  }),
  z.looseObject({
    type: z.literal("result"),
    is_error: z.boolean().optional().catch(undefined),
    subtype: text,
    result: text,
    errors: z.array(z.string()).optional().catch(undefined),
  }),
]);

/** `--output-format=stream-json`, https://code.claude.com/docs/en/headless. */
export const readClaude: ReadEvent = (value) => {
  const { data: event } = claudeEvent.safeParse(value);
  if (event === undefined) return [];
  if (event.type === "result") {
    if (!event.is_error) return event.result === undefined ? [] : [{ kind: "answered", text: event.result }];
    // The subtype is "success" even if the model could not be reached.
    const subtype = event.subtype === "success" ? "" : (event.subtype ?? "");
    return [{ kind: "failed", text: event.result || event.errors?.join("; ") || subtype }];
  }
  return event.message.content.flatMap((block): AgentEvent[] => {
    if (block.type === "tool_use") return [{ kind: "did", text: callText(block.name ?? "", block.input) }];
    if (block.type !== "text" || !block.text?.trim()) return [];
    return [{ kind: event.parent_tool_use_id ? "did" : "said", text: block.text }];
  });
};

/** The inputs that describe a tool call best, in this order. */
const describingInputs = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt"];

function callText(tool: string, inputs: Readonly<Record<string, unknown>> = {}): string {
  const input = describingInputs.map((name) => inputs[name]).find((each) => typeof each === "string");
  return input === undefined ? tool : `${tool}: ${String(input)}`;
}

const codexItem = z.looseObject({
  type: z.string(),
  text,
  command: text,
  server: text,
  tool: text,
  query: text,
  changes: z
    .array(z.looseObject({ path: z.string() }))
    .optional()
    .catch(undefined),
});
const codexEvent = z.union([
  z.looseObject({ type: z.enum(["item.started", "item.completed"]), item: codexItem }),
  z.looseObject({ type: z.literal("turn.failed"), error: z.looseObject({ message: z.string() }) }),
  z.looseObject({ type: z.literal("error"), message: z.string() }),
]);

/** `--json`, https://developers.openai.com/codex/noninteractive. */
export const readCodex: ReadEvent = (value) => {
  const { data: event } = codexEvent.safeParse(value);
  if (event === undefined) return [];
  // Not the end: it also reports reconnects, and `turn.failed` follows if the turn fails.
  if (event.type === "error") return [{ kind: "did", text: event.message }];
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
