/** A Slack workspace in memory: who is there, what was said, and who hears of a change. */

export interface SlackUser {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
}

export interface SlackReaction {
  readonly name: string;
  readonly users: readonly string[];
}

export interface SlackMessage {
  readonly ts: string;
  /** First message of the thread; a first message has its own once somebody answered. */
  readonly thread_ts?: string;
  readonly user: string;
  /** As on the wire: escaped, mentions between angle brackets. */
  readonly text: string;
  readonly subtype?: string;
  readonly blocks?: readonly unknown[];
  readonly metadata?: unknown;
  readonly reactions?: readonly SlackReaction[];
  readonly edited?: { readonly user: string; readonly ts: string };
}

/** A message that only its user sees. */
export interface SlackEphemeral {
  readonly ts: string;
  readonly channel: string;
  readonly thread_ts?: string;
  readonly text: string;
  readonly blocks?: readonly unknown[];
}

export interface SlackChannel {
  readonly id: string;
  readonly name: string;
  readonly kind: "channel" | "private" | "im";
  readonly archived?: boolean;
  readonly members: readonly string[];
  /** Oldest first, replies among them. */
  readonly messages: readonly SlackMessage[];
}

export interface SlackSnapshot {
  readonly team: { readonly id: string; readonly name: string };
  readonly users: readonly SlackUser[];
  readonly channels: readonly SlackChannel[];
  /** By user id. */
  readonly ephemerals: Readonly<Record<string, readonly SlackEphemeral[]>>;
}

/** A public channel with the bot, one without, two people and the bot. */
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

export interface Workspace {
  readonly botUser: string;
  readonly botId: string;
  readonly appId: string;
  readonly team: SlackSnapshot["team"];
  /** A copy of everything: not to be asked for once a message. */
  snapshot(): SlackSnapshot;
  /** By id or by name. */
  channel(idOrName: string): SlackChannel | undefined;
  user(idOrName: string): SlackUser | undefined;
  message(channel: string, ts: string): SlackMessage | undefined;
  /** A message's first message; itself, if it is in no thread. */
  root(channel: string, message: SlackMessage): SlackMessage | undefined;
  add(channel: string, message: Omit<SlackMessage, "ts">): SlackMessage;
  replace(channel: string, message: SlackMessage): void;
  remove(channel: string, ts: string): void;
  join(channel: string, user: string): void;
  whisper(user: string, ephemeral: Omit<SlackEphemeral, "ts">): SlackEphemeral;
  /** A timestamp that nothing else has. */
  nextTs(): string;
  subscribe(listener: () => void): () => void;
}

/** `now` in milliseconds since the epoch. */
export function createWorkspace(initial: SlackSnapshot, now: () => number): Workspace {
  let state = structuredClone(initial);
  let lastMicroseconds = 0;
  const listeners = new Set<() => void>();

  const change = (next: SlackSnapshot): void => {
    state = next;
    for (const listener of listeners) listener();
  };
  const changeChannel = (id: string, fn: (channel: SlackChannel) => SlackChannel): void =>
    change({ ...state, channels: state.channels.map((each) => (each.id === id ? fn(each) : each)) });
  const channel = (idOrName: string): SlackChannel | undefined =>
    state.channels.find(({ id, name }) => id === idOrName || name === idOrName);
  const message = (inChannel: string, ts: string): SlackMessage | undefined =>
    channel(inChannel)?.messages.find((each) => each.ts === ts);
  const nextTs = (): string => {
    lastMicroseconds = Math.max(lastMicroseconds + 100, now() * 1000);
    return `${Math.floor(lastMicroseconds / 1e6)}.${String(lastMicroseconds % 1e6).padStart(6, "0")}`;
  };

  return {
    botUser: state.users.find(({ bot }) => bot)?.id ?? "UBOT",
    botId: "B0SANDBOX",
    appId: "A0SANDBOX",
    team: state.team,
    snapshot: () => structuredClone(state),
    channel,
    user: (idOrName) => state.users.find(({ id, name }) => id === idOrName || name === idOrName),
    message,
    root: (inChannel, { ts, thread_ts }) => message(inChannel, thread_ts ?? ts),
    add(inChannel, words) {
      const added: SlackMessage = { ts: nextTs(), ...words };
      changeChannel(inChannel, (before) => ({
        ...before,
        messages: [
          ...before.messages.map((each) =>
            each.ts === added.thread_ts ? { ...each, thread_ts: each.ts } : each,
          ),
          added,
        ],
      }));
      return added;
    },
    replace: (inChannel, next) =>
      changeChannel(inChannel, (before) => ({
        ...before,
        messages: before.messages.map((each) => (each.ts === next.ts ? next : each)),
      })),
    remove: (inChannel, ts) =>
      changeChannel(inChannel, (before) => ({
        ...before,
        messages: before.messages.filter((each) => each.ts !== ts),
      })),
    join: (inChannel, user) =>
      changeChannel(inChannel, (before) => ({
        ...before,
        members: [...before.members.filter((each) => each !== user), user],
      })),
    whisper(user, words) {
      const ephemeral: SlackEphemeral = { ts: nextTs(), ...words };
      const before = state.ephemerals[user] ?? [];
      change({ ...state, ephemerals: { ...state.ephemerals, [user]: [...before, ephemeral] } });
      return ephemeral;
    },
    nextTs,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
