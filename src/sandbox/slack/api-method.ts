import type { SlackChannel, SlackMessage, Workspace } from "./workspace.ts";

/** Parameters of a call, whatever its encoding was: JSON inside a form is decoded. */
export type Params = Readonly<Record<string, unknown>>;
export type Answer = Readonly<Record<string, unknown>>;

/** What a method may touch. `said` and `changed` send the events that follow. */
export interface ApiContext {
  readonly workspace: Workspace;
  said(channel: string, ts: string): void;
  changed(channel: string, before: SlackMessage): void;
}

export type Method = (params: Params, context: ApiContext) => Answer;

export const failed = (error: string, more: Answer = {}): Answer => ({ ok: false, error, ...more });

export const textParam = (params: Params, name: string): string => {
  const value = params[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};
export const flagParam = (params: Params, name: string): boolean => {
  const value = params[name];
  return value === true || value === "true" || value === "1";
};
export const numberParam = (params: Params, name: string, otherwise: number): number => {
  const value = Number(params[name] ?? otherwise);
  return Number.isFinite(value) ? value : otherwise;
};

/** The channel, or the error with which Slack hides or refuses it. */
export function channelFor(params: Params, { workspace }: ApiContext): SlackChannel | { error: string } {
  const id = textParam(params, "channel");
  const channel = workspace.channel(id);
  // By its id alone: a name is none.
  if (channel?.id !== id) return { error: "channel_not_found" };
  const member = channel.members.includes(workspace.botUser);
  // Slack does not say that a private channel is there.
  if (!member) return { error: channel.kind === "channel" ? "not_in_channel" : "channel_not_found" };
  return channel;
}
