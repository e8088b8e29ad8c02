import type { Delivery, Signature, Try } from "./deliver.ts";
import { changedEvent, deletedEvent, idOf, mentionEvent, messageEvent, type Payload } from "./payloads.ts";
import { typedText } from "./typed-text.ts";
import type { SlackChannel, SlackMessage, SlackUser, Workspace } from "./workspace.ts";

/** The result of a message: the HTTP status of each delivery, 0 for none. */
export interface Said {
  readonly ts: string;
  readonly statuses: readonly number[];
}
/** The app's response to a command or a button. */
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

/** People's actions in Slack. Each resolves when the app has answered, or the last delivery has failed. */
export function createPeople({
  workspace,
  now,
  responseUrl,
  deliver,
  deliverEvent,
}: {
  workspace: Workspace;
  now: () => number;
  responseUrl: (user: string, channel: string) => string;
  deliver: (delivery: Delivery) => Promise<readonly Try[]>;
  deliverEvent: (event: Payload, signature?: Signature) => Promise<readonly Try[]>;
}) {
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

  async function deliverMessage(
    channel: SlackChannel,
    message: SlackMessage,
    signature?: Signature,
  ): Promise<Said> {
    if (!hears(channel)) return { ts: message.ts, statuses: [] };
    const mentioned = new RegExp(`<@${workspace.botUser}[|>]`).test(message.text);
    const events = [
      messageEvent(workspace, channel, message),
      // A direct message has no separate event for a mention.
      ...(mentioned && channel.kind !== "im" ? [mentionEvent(workspace, channel, message)] : []),
    ];
    const tries = await Promise.all(events.map((event) => deliverEvent(event, signature)));
    return { ts: message.ts, statuses: statuses(tries.flat()) };
  }

  /** Delivers a change of a message, where the bot can see it. */
  async function announce(channel: SlackChannel, act: Act & { readonly ts: string }, event: Payload) {
    const tries = hears(channel) ? await deliverEvent(event, act.signature) : [];
    return { ts: act.ts, statuses: statuses(tries) };
  }

  async function interact(
    kind: "command" | "interaction",
    act: Act,
    user: SlackUser,
    payload: Payload,
  ): Promise<Pressed> {
    const triggerId = `${Math.floor(now())}.${idOf()}`;
    const common = {
      token: "sandbox-verification-token",
      api_app_id: workspace.appId,
      response_url: responseUrl(user.id, channelOf(act).id),
      trigger_id: triggerId,
    };
    const [first] = await deliver({ kind, payload: { ...payload, ...common }, signature: act.signature });
    return { status: first?.status ?? 0, body: first?.body ?? "", triggerId };
  }

  return {
    async slash(act: Act & { readonly text: string; readonly command?: string }): Promise<Pressed> {
      const channel = channelOf(act);
      const user = userOf(act);
      const { team } = workspace;
      return interact("command", act, user, {
        team_id: team.id,
        team_domain: team.name.toLowerCase(),
        channel_id: channel.id,
        channel_name: channel.kind === "im" ? "directmessage" : channel.name,
        user_id: user.id,
        user_name: user.name,
        command: act.command ?? "/agent",
        text: act.text,
        is_enterprise_install: "false",
      });
    },
    async say(
      act: Act & { readonly text: string; readonly thread?: string; readonly subtype?: string },
    ): Promise<Said> {
      const channel = channelOf(act);
      const message = workspace.add(channel.id, {
        user: userOf(act).id,
        text: typedText(workspace, act.text),
        ...(act.thread === undefined ? {} : { thread_ts: act.thread }),
        ...(act.subtype === undefined ? {} : { subtype: act.subtype }),
      });
      return deliverMessage(channel, message, act.signature);
    },
    /** Presses the message's nth button with that action_id, and confirms. */
    async press(
      act: Act & { readonly ts: string; readonly action: string; readonly button?: number },
    ): Promise<Pressed> {
      const channel = channelOf(act);
      const user = userOf(act);
      const message = messageOf(channel, act.ts);
      const button = buttonsOf(message).filter(({ action_id }) => action_id === act.action)[act.button ?? 0];
      if (button === undefined) throw new Error(`message ${act.ts} has no button ${act.action}`);
      const { team } = workspace;
      const thread = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts };
      return interact("interaction", act, user, {
        type: "block_actions",
        user: { id: user.id, username: user.name, name: user.name, team_id: team.id },
        container: {
          type: "message",
          message_ts: message.ts,
          channel_id: channel.id,
          is_ephemeral: false,
          ...thread,
        },
        team: { id: team.id, domain: team.name.toLowerCase() },
        enterprise: null,
        is_enterprise_install: false,
        channel: { id: channel.id, name: channel.name },
        message: messageEvent(workspace, channel, message),
        state: { values: {} },
        actions: [{ ...button, block_id: "b1", action_ts: workspace.nextTs() }],
      });
    },
    async edit(act: Act & { readonly ts: string; readonly text: string }): Promise<Said> {
      const channel = channelOf(act);
      const before = messageOf(channel, act.ts);
      const edited = { user: userOf(act).id, ts: workspace.nextTs() };
      const after = { ...before, text: typedText(workspace, act.text), edited };
      workspace.replace(channel.id, after);
      return announce(channel, act, changedEvent(workspace, channel, { before, after }));
    },
    async remove(act: Act & { readonly ts: string }): Promise<Said> {
      const channel = channelOf(act);
      const message = messageOf(channel, act.ts);
      const event = deletedEvent(workspace, channel, message);
      workspace.remove(channel.id, act.ts);
      return announce(channel, act, event);
    },
    /** Delivers an old message again, as Slack does late after an outage. */
    async again(act: Omit<Act, "user"> & { readonly ts: string }): Promise<Said> {
      const channel = channelOf(act);
      return deliverMessage(channel, messageOf(channel, act.ts), act.signature);
    },
    /** Adds the bot to the channel. */
    async invite(act: Act): Promise<void> {
      const { id } = channelOf(act);
      workspace.join(id, workspace.botUser);
      const text = `<@${workspace.botUser}> has joined the channel`;
      workspace.add(id, { user: workspace.botUser, subtype: "channel_join", text });
    },
  };
}

interface ShownButton {
  readonly type: "button";
  readonly action_id: string;
}

/** The buttons in the message's blocks, with all their fields. */
function buttonsOf({ blocks }: SlackMessage): readonly ShownButton[] {
  return (blocks ?? []).flatMap((block) => {
    const elements = fieldOf(block, "elements");
    return Array.isArray(elements) ? elements.filter(isButton) : [];
  });
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const isButton = (element: unknown): element is ShownButton =>
  fieldOf(element, "type") === "button" && typeof fieldOf(element, "action_id") === "string";
