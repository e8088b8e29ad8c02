import type { Delivery, Signature, Try } from "./deliver.ts";
import { changedEvent, deletedEvent, idOf, mentionEvent, messageEvent, type Payload } from "./payloads.ts";
import { typedText } from "./typed-text.ts";
import type { SlackChannel, SlackMessage, SlackUser, Workspace } from "./workspace.ts";

/** What came of an action: the HTTP statuses its deliveries met in turn, 0 for none. */
export interface Said {
  readonly ts: string;
  readonly statuses: readonly number[];
}
export interface Pressed {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly body: string;
  readonly triggerId: string;
}

interface Act {
  /** Id or name. */
  readonly user: string;
  /** Id or name. */
  readonly channel: string;
  readonly signature?: Signature;
}

/** What people do in Slack. Each resolves when the app has answered, or was told for the last time. */
export interface People {
  slash(act: Act & { readonly text: string; readonly command?: string }): Promise<Pressed>;
  say(
    act: Act & { readonly text: string; readonly thread?: string; readonly subtype?: string },
  ): Promise<Said>;
  /** Presses the button with that action_id on the message; its confirmation is taken as given. */
  press(
    act: Act & { readonly ts: string; readonly action: string; readonly button?: number },
  ): Promise<Pressed>;
  edit(act: Act & { readonly ts: string; readonly text: string }): Promise<Said>;
  remove(act: Act & { readonly ts: string }): Promise<Said>;
  /** Delivers an old message again, as Slack does late after trouble. */
  again(act: Omit<Act, "user"> & { readonly ts: string }): Promise<Said>;
  /** Brings the bot into the channel. */
  invite(act: Act): Promise<void>;
}

export interface PeopleOptions {
  readonly workspace: Workspace;
  readonly now: () => number;
  readonly responseUrl: (user: string, channel: string) => string;
  readonly deliver: (delivery: Delivery) => Promise<readonly Try[]>;
  readonly deliverEvent: (event: Payload, signature?: Signature) => Promise<readonly Try[]>;
}

export function createPeople(options: PeopleOptions): People {
  const { workspace, now, responseUrl, deliver, deliverEvent } = options;

  function channelOf({ channel }: { readonly channel: string }): SlackChannel {
    const found = workspace.channel(channel);
    if (found === undefined) throw new Error(`there is no channel ${channel}`);
    return found;
  }
  function userOf({ user }: { readonly user: string }): SlackUser {
    const found = workspace.user(user);
    if (found === undefined) throw new Error(`there is no user ${user}`);
    return found;
  }
  function messageOf(channel: SlackChannel, ts: string): SlackMessage {
    const found = workspace.message(channel.id, ts);
    if (found === undefined) throw new Error(`there is no message ${ts} in ${channel.name}`);
    return found;
  }
  const hears = (channel: SlackChannel): boolean => channel.members.includes(workspace.botUser);
  const statuses = (tries: readonly Try[]): readonly number[] => tries.map(({ status }) => status);

  async function tellOf(channel: SlackChannel, message: SlackMessage, signature?: Signature): Promise<Said> {
    if (!hears(channel)) return { ts: message.ts, statuses: [] };
    const mentioned = new RegExp(`<@${workspace.botUser}[|>]`).test(message.text);
    const events = [
      messageEvent(workspace, channel, message),
      // In a direct message a mention is nothing special.
      ...(mentioned && channel.kind !== "im" ? [mentionEvent(workspace, channel, message)] : []),
    ];
    const tries = await Promise.all(events.map((event) => deliverEvent(event, signature)));
    return { ts: message.ts, statuses: statuses(tries.flat()) };
  }

  async function interact(
    kind: "command" | "interaction",
    act: Act,
    payload: Payload,
    triggerId: string,
  ): Promise<Pressed> {
    const [first] = await deliver({ kind, payload, signature: act.signature });
    return { status: first?.status ?? 0, body: first?.body ?? "", triggerId };
  }

  return {
    async slash(act) {
      const channel = channelOf(act);
      const user = userOf(act);
      const { team } = workspace;
      const triggerId = `${Math.floor(now())}.${idOf()}`;
      const payload = {
        token: "sandbox-verification-token",
        team_id: team.id,
        team_domain: team.name.toLowerCase(),
        channel_id: channel.id,
        channel_name: channel.kind === "im" ? "directmessage" : channel.name,
        user_id: user.id,
        user_name: user.name,
        command: act.command ?? "/agent",
        text: act.text,
        api_app_id: workspace.appId,
        is_enterprise_install: "false",
        response_url: responseUrl(user.id, channel.id),
        trigger_id: triggerId,
      };
      return interact("command", act, payload, triggerId);
    },
    async say(act) {
      const channel = channelOf(act);
      const message = workspace.add(channel.id, {
        user: userOf(act).id,
        text: typedText(workspace, act.text),
        ...(act.thread === undefined ? {} : { thread_ts: act.thread }),
        ...(act.subtype === undefined ? {} : { subtype: act.subtype }),
      });
      return tellOf(channelOf(act), message, act.signature);
    },
    async press(act) {
      const channel = channelOf(act);
      const user = userOf(act);
      const message = messageOf(channel, act.ts);
      const button = buttonsOf(message).filter(({ action_id }) => action_id === act.action)[act.button ?? 0];
      if (button === undefined) throw new Error(`message ${act.ts} has no button ${act.action}`);
      const { team } = workspace;
      const triggerId = `${Math.floor(now())}.${idOf()}`;
      const thread = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts };
      const payload = {
        type: "block_actions",
        user: { id: user.id, username: user.name, name: user.name, team_id: team.id },
        api_app_id: workspace.appId,
        token: "sandbox-verification-token",
        container: {
          type: "message",
          message_ts: message.ts,
          channel_id: channel.id,
          is_ephemeral: false,
          ...thread,
        },
        trigger_id: triggerId,
        team: { id: team.id, domain: team.name.toLowerCase() },
        enterprise: null,
        is_enterprise_install: false,
        channel: { id: channel.id, name: channel.name },
        message: messageEvent(workspace, channel, message),
        state: { values: {} },
        response_url: responseUrl(user.id, channel.id),
        actions: [{ ...button, block_id: "b1", action_ts: workspace.nextTs() }],
      };
      return interact("interaction", act, payload, triggerId);
    },
    async edit(act) {
      const channel = channelOf(act);
      const before = messageOf(channel, act.ts);
      const edited = { user: userOf(act).id, ts: workspace.nextTs() };
      const after = { ...before, text: typedText(workspace, act.text), edited };
      workspace.replace(channel.id, after);
      if (!hears(channel)) return { ts: act.ts, statuses: [] };
      const event = changedEvent(workspace, channelOf(act), { before, after });
      return { ts: act.ts, statuses: statuses(await deliverEvent(event, act.signature)) };
    },
    async remove(act) {
      const channel = channelOf(act);
      const message = messageOf(channel, act.ts);
      const event = deletedEvent(workspace, channel, message);
      workspace.remove(channel.id, act.ts);
      if (!hears(channel)) return { ts: act.ts, statuses: [] };
      return { ts: act.ts, statuses: statuses(await deliverEvent(event, act.signature)) };
    },
    async again(act) {
      const channel = channelOf(act);
      return tellOf(channel, messageOf(channel, act.ts), act.signature);
    },
    async invite(act) {
      workspace.join(channelOf(act).id, workspace.botUser);
    },
  };
}

interface ShownButton {
  readonly type: "button";
  readonly action_id: string;
}

/** The buttons as they stand in the message's blocks, all their fields with them. */
function buttonsOf({ blocks }: SlackMessage): readonly ShownButton[] {
  return (blocks ?? []).flatMap((block) => {
    const elements = fieldOf(block, "elements");
    return Array.isArray(elements) ? elements.filter(isButton) : [];
  });
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;

const isButton = (element: unknown): element is ShownButton =>
  fieldOf(element, "type") === "button" && typeof fieldOf(element, "action_id") === "string";
