import type { PersonEvent } from "#core/event.ts";
import type { Place, Scope } from "#core/place.ts";
import type { Accept, Clock } from "#ports.ts";
import { type Client, connectTo, type Message, messageOf } from "./lines.ts";

export const platformName = "line-chat";

export const scopeOf = (room: string): Scope => `${platformName}:${room}`;
export const placeOf = (room: string, thread: string): Place => `${scopeOf(room)}/${thread}`;
/** Returns a place or a scope as the chat's requests name it. */
export const addressOf = (at: Place | Scope): string => `#${at.slice(platformName.length + 1)}`;

/** Returns the event of a message; the bot's own messages are marked as a bot's. */
export function eventOf({ id, atMs, room, thread, name, text }: Message, bot: string): PersonEvent {
  const common = {
    id: `${platformName}:message:${id}`,
    at: new Date(atMs).toISOString(),
    by: { platform: platformName, id: name, name, bot: name === bot },
    scope: scopeOf(room),
    place: placeOf(room, thread),
    message: id,
  };
  if (/^\/agent\b/.test(text)) {
    return { ...common, kind: "command", text: text.slice("/agent".length).trim() };
  }
  const mentioned = text.replace(/^@agent\b[:,]?\s*/, "");
  const mention = mentioned !== text;
  return { ...common, kind: "reply", text: mentioned, mention, first: thread === id, underOurs: false };
}

const reconnectMs = 100;

/** Listens to the chat and acknowledges saved messages; the chat repeats the others. Reconnects when necessary. */
export function createReceiver(
  { address, hello, bot }: { readonly address: string; readonly hello: string; readonly bot: string },
  { accept, clock }: { readonly accept: Accept; readonly clock: Clock },
) {
  let stopped = false;
  let client: Client | null = null;
  let callOff = (): void => {};
  const underWay = new Set<Promise<void>>();

  async function take(line: string): Promise<void> {
    const message = messageOf(line);
    const taken = await accept(eventOf(message, bot)).catch(() => "again" as const);
    if (taken !== "again") await client?.request(`heard ${message.id}`).catch(() => {});
  }

  async function listen(): Promise<void> {
    try {
      client = await connectTo(address, hello, (line) => {
        if (stopped) return;
        const taking = take(line).finally(() => underWay.delete(taking));
        underWay.add(taking);
      });
      await client.request("listen");
      void client.closed.then(again);
    } catch {
      again();
    }
  }
  function again(): void {
    if (!stopped) callOff = clock.after(reconnectMs, () => void listen());
  }

  return {
    start: listen,
    async stop(): Promise<void> {
      stopped = true;
      callOff();
      await Promise.all(underWay);
      client?.close();
    },
  };
}
