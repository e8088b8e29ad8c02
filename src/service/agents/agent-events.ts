/** The events of the presets that print them. What is not as it is described here is passed over. */
import { z } from "zod";
import type { ReadEvent, Told } from "./json-lines.ts";

/** What is of another shape counts as left out, lest the words beside it are lost. */
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
    /** Of an agent that the agent has called: its words are not the answer. */
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
    // It is "success" also where the program has reached its end, but the model could not be asked.
    const subtype = event.subtype === "success" ? "" : (event.subtype ?? "");
    return [{ kind: "failed", text: event.result || event.errors?.join("; ") || subtype }];
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
  // Not the end: it tells of tries to connect again, too, and of what is worse `turn.failed` follows.
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
