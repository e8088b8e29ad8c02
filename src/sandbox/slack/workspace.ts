/** A Slack workspace in memory: its people, its messages, and the listeners of its changes. */
import { z } from "zod";
import { createListeners } from "#sandbox/stand-in/listeners.ts";

const text = z.string();

const slackMessage = z.object({
  ts: text,
  /** First message of the thread; a first message has its own `ts` here once it has a reply. */
  thread_ts: text.exactOptional(),
  user: text,
  /** The author's workspace, if it is not the app's. */
  team: text.exactOptional(),
  /** As on the wire: escaped, mentions between angle brackets. */
  text,
  subtype: text.exactOptional(),
  blocks: z.array(z.unknown()).exactOptional(),
  metadata: z.unknown().exactOptional(),
  reactions: z.array(z.object({ name: text, users: z.array(text) })).exactOptional(),
  edited: z.object({ user: text, ts: text }).exactOptional(),
});
/** A message, as `conversations.history` returns it. */
export type SlackMessage = z.infer<typeof slackMessage>;

/** True for every message of a thread but the first. */
export const isReply = ({ ts, thread_ts }: SlackMessage): boolean =>
  thread_ts !== undefined && thread_ts !== ts;

const slackEphemeral = slackMessage
  .pick({ ts: true, thread_ts: true, text: true, blocks: true })
  .extend({ channel: text });

const slackUser = z.object({ id: text, name: text, bot: z.boolean() });
/** A person or the bot. */
export type SlackUser = z.infer<typeof slackUser>;

const slackChannel = z.object({
  id: text,
  name: text,
  kind: z.enum(["channel", "private", "im"]),
  archived: z.boolean().exactOptional(),
  /** Whether another company is in it. */
  shared: z.boolean().exactOptional(),
  members: z.array(text),
  /** Oldest first, replies among them. */
  messages: z.array(slackMessage),
});
/** A channel with its messages. */
export type SlackChannel = z.infer<typeof slackChannel>;

/** The shape of `SlackSnapshot`, to check what is read from a file. */
export const slackSnapshot = z.object({
  team: z.object({ id: text, name: text }),
  users: z.array(slackUser),
  channels: z.array(slackChannel),
  /** Messages that only one user sees, by the user's id. */
  ephemerals: z.record(text, z.array(slackEphemeral)),
});
/** Everything that the stand-in remembers, as plain JSON. */
export type SlackSnapshot = z.infer<typeof slackSnapshot>;

/** A public channel with the bot, one without it, two people and the bot. */
export const emptyWorkspace: SlackSnapshot = {
  team: { id: "T0SANDBOX", name: "Sandbox" },
  users: [
    { id: "UALICE", name: "alice", bot: false },
    { id: "UBOB", name: "bob", bot: false },
    { id: "UBOT", name: "agent", bot: true },
  ],
  channels: [
    { id: "C0GENERAL", name: "general", kind: "channel", members: ["UALICE", "UBOB", "UBOT"], messages: [] },
    { id: "C0RANDOM", name: "random", kind: "channel", members: ["UALICE", "UBOB"], messages: [] },
  ],
  ephemerals: {},
};

/** A workspace, and the changes that can be made to it. */
export type Workspace = ReturnType<typeof createWorkspace>;

/** Slack's clock and its delays; may be changed at any time. */
export interface Conditions {
  /** Slack's clock, in timestamps and the `Date` header, is ahead of the true time by this; 0 if absent. */
  skewMs?: number;
  /** Lists show a message only after this; 0 if absent. */
  lagMs?: number;
  /** As for apps outside Slack's Marketplace: most messages of a page, and the time between two pages. */
  reading?: { readonly most: number; readonly everyMs: number };
}

/** Creates a workspace with a copy of the state; `now` in milliseconds since the epoch. */
export function createWorkspace(initial: SlackSnapshot, now: () => number, conditions: Conditions = {}) {
  let state = structuredClone(initial);
  let lastMicroseconds = 0;
  /** True time at which each message was added, by channel and timestamp. */
  const addedAt = new Map<string, number>();
  const listeners = createListeners();

  const change = (next: SlackSnapshot): void => {
    state = next;
    listeners.notify();
  };
  const changeChannel = (id: string, fn: (channel: SlackChannel) => SlackChannel): void =>
    change({ ...state, channels: state.channels.map((each) => (each.id === id ? fn(each) : each)) });
  const changeMessages = (id: string, fn: (messages: SlackMessage[]) => SlackMessage[]): void =>
    changeChannel(id, (before) => ({ ...before, messages: fn(before.messages) }));
  const channel = (idOrName: string): SlackChannel | undefined =>
    state.channels.find(({ id, name }) => id === idOrName || name === idOrName);
  const message = (inChannel: string, ts: string): SlackMessage | undefined =>
    channel(inChannel)?.messages.find((each) => each.ts === ts);
  /** Returns an unused timestamp. */
  const nextTs = (): string => {
    lastMicroseconds = Math.max(lastMicroseconds + 100, (now() + (conditions.skewMs ?? 0)) * 1000);
    return `${Math.floor(lastMicroseconds / 1e6)}.${String(lastMicroseconds % 1e6).padStart(6, "0")}`;
  };

  const botUser = state.users.find(({ bot }) => bot)?.id ?? "UBOT";

  return {
    botUser,
    botId: "B0SANDBOX",
    appId: "A0SANDBOX",
    team: state.team,
    snapshot: (): SlackSnapshot => structuredClone(state),
    /** By id or by name. */
    channel,
    /** The direct messages of the person with this id and the bot, opened if need be; undefined: nobody has it. */
    directWith(id: string): SlackChannel | undefined {
      const user = state.users.find((each) => each.id === id && !each.bot);
      if (user === undefined) return undefined;
      const found = state.channels.find(({ kind, members }) => kind === "im" && members.includes(id));
      if (found !== undefined) return found;
      const { name } = user;
      const opened = {
        id: `D0${id}`,
        name: `dm-${name}`,
        kind: "im" as const,
        members: [id, botUser],
        messages: [],
      };
      change({ ...state, channels: [...state.channels, opened] });
      return opened;
    },
    /** By id or by name. */
    user: (idOrName: string): SlackUser | undefined =>
      state.users.find(({ id, name }) => id === idOrName || name === idOrName),
    message,
    /** The first message of a message's thread; itself, if it is in no thread. */
    root: (inChannel: string, { ts, thread_ts }: SlackMessage): SlackMessage | undefined =>
      message(inChannel, thread_ts ?? ts),
    /** Adds a message with a new timestamp. The thread's first message gets its `thread_ts`. */
    add(inChannel: string, words: Omit<SlackMessage, "ts">): SlackMessage {
      const added: SlackMessage = { ts: nextTs(), ...words };
      addedAt.set(`${inChannel} ${added.ts}`, now());
      changeMessages(inChannel, (before) => [
        ...before.map((each) => (each.ts === added.thread_ts ? { ...each, thread_ts: each.ts } : each)),
        added,
      ]);
      return added;
    },
    /** Whether lists show the message already. */
    isListed: (inChannel: string, { ts }: SlackMessage): boolean =>
      now() - (addedAt.get(`${inChannel} ${ts}`) ?? 0) >= (conditions.lagMs ?? 0),
    replace: (inChannel: string, next: SlackMessage): void =>
      changeMessages(inChannel, (before) => before.map((each) => (each.ts === next.ts ? next : each))),
    remove: (inChannel: string, ts: string): void =>
      changeMessages(inChannel, (before) => before.filter((each) => each.ts !== ts)),
    join: (inChannel: string, user: string): void =>
      changeChannel(inChannel, (before) => ({
        ...before,
        members: [...before.members.filter((each) => each !== user), user],
      })),
    /** Adds a message that only the user sees. */
    whisper(user: string, words: Omit<z.infer<typeof slackEphemeral>, "ts">) {
      const ephemeral = { ts: nextTs(), ...words };
      const before = state.ephemerals[user] ?? [];
      change({ ...state, ephemerals: { ...state.ephemerals, [user]: [...before, ephemeral] } });
      return ephemeral;
    },
    nextTs,
    conditions,
    subscribe: listeners.subscribe,
  };
}
