/** Reads a session's stream as the page does. */
import { onTestFinished } from "vitest";
import type { SessionChange } from "#service/sessions/session-message.ts";
import type { Api } from "./serving.ts";

type Message = SessionChange & { readonly now: number; readonly keep?: number };
interface Received {
  readonly id: string;
  readonly message: Message;
}

export interface Reading {
  readonly status: number;
  readonly headers: Headers;
  readonly received: readonly Received[];
  /** The texts of the entries after everything received so far. */
  texts(): readonly string[];
  state(): string | null;
  isOver(): boolean;
  leave(): void;
}

/** Returns the parts of the run's session link. */
export async function linkOf(api: Api, id: string): Promise<{ readonly path: string; readonly key: string }> {
  const link = new URL((await api.run(id)).session_link ?? "");
  return { path: `${link.origin}${link.pathname}`, key: link.searchParams.get("key") ?? "" };
}

export async function reading(path: string, key: string, lastEventId = ""): Promise<Reading> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(`${path}/events`, {
    headers: { "x-session-key": key, ...(lastEventId === "" ? {} : { "last-event-id": lastEventId }) },
    signal: leaving.signal,
  });
  const received: Received[] = [];
  let texts: string[] = [];
  let isOver = false;
  const take = (frame: string): void => {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined) return;
    const message: Message = JSON.parse(data);
    received.push({ id: /^id: (.*)$/m.exec(frame)?.[1] ?? "", message });
    if (message.keep !== undefined) texts = texts.slice(0, message.keep);
    for (const { index, text } of message.entries ?? []) {
      texts[index] = text.head + (texts[index] ?? "").slice(text.from, text.to) + text.tail;
    }
    texts = texts.slice(0, message.count);
  };
  const pump = async (): Promise<void> => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      frames.forEach(take);
    }
  };
  if (response.status === 200) {
    void pump()
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
  }
  return {
    status: response.status,
    headers: response.headers,
    received,
    texts: () => texts,
    state: () => received.findLast(({ message }) => message.view !== undefined)?.message.view?.state ?? null,
    isOver: () => isOver,
    leave: () => leaving.abort(),
  };
}
