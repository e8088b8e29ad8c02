import type { SlackChannel, SlackMessage, Workspace } from "./workspace.ts";

/** A call's parameters, with JSON inside a form decoded. */
export type Params = Readonly<Record<string, unknown>>;
/** The JSON that a method returns. */
export type Answer = Readonly<Record<string, unknown>>;

/** A method's access to the workspace. `said` and `changed` send the resulting events. */
export interface ApiContext {
  readonly workspace: Workspace;
  said(channel: string, message: SlackMessage): void;
  changed(channel: string, before: SlackMessage): void;
}

/** A method of the Web API. Throws `Refusal` where Slack returns an error. */
export type Method = (params: Params, context: ApiContext) => Answer;

/** Slack's error code for a request, with more fields of the answer. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(error: string, more: Answer = {}) {
    super(error);
    this.answer = { ok: false, error, ...more };
  }
}

/** A parameter as text; empty if it is missing. */
export const textParam = (params: Params, name: string): string => {
  const value = params[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};
/** A parameter as a flag. */
export const flagParam = (params: Params, name: string): boolean =>
  ["true", "1"].includes(String(params[name]));
/** A parameter as a number; `otherwise` if it is missing or not a number. */
export const numberParam = (params: Params, name: string, otherwise: number): number => {
  const value = Number(params[name] ?? otherwise);
  return Number.isFinite(value) ? value : otherwise;
};

/** The call's channel, by its id and not by its name. Refuses one that Slack hides from the bot. */
export function channelFor(params: Params, { workspace }: ApiContext): SlackChannel {
  const id = textParam(params, "channel");
  const channel = workspace.channel(id);
  if (channel?.id !== id) throw new Refusal("channel_not_found");
  if (channel.members.includes(workspace.botUser)) return channel;
  // Slack does not reveal that a private channel exists.
  throw new Refusal(channel.kind === "channel" ? "not_in_channel" : "channel_not_found");
}

/** The call's message in the channel. Refuses with `error` if there is none. */
export function messageFor(
  params: Params,
  { workspace }: ApiContext,
  channel: SlackChannel,
  { name = "ts", error = "message_not_found" },
): SlackMessage {
  const message = workspace.message(channel.id, textParam(params, name));
  if (message === undefined) throw new Refusal(error);
  return message;
}
