/**
 * The protocol of the line chat: UTF-8 lines over TCP. A client first gives its name, then sends
 * `<number> <request>` and receives `<number> ok <value>` or `<number> no <reason>`. The server also sends lines
 * that begin with `said`. Line breaks and backslashes inside a text are escaped.
 */
import { connect, type Socket } from "node:net";

export const encode = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
export const decode = (text: string): string =>
  text.replaceAll(/\\(n|\\)/g, (_, escaped: string) => (escaped === "n" ? "\n" : "\\"));

/** Returns the first words of a line, and the rest of it. */
export function wordsOf(line: string, count: number): readonly string[] {
  const words = line.split(" ");
  return [...words.slice(0, count), words.slice(count).join(" ")];
}

/** A message, sent as `<id> <ms> #<room>/<thread> <name> <text>`. A thread has the id of its first message. */
export interface Message {
  readonly id: string;
  /** Milliseconds since the epoch, by the chat's clock. */
  readonly atMs: number;
  readonly room: string;
  readonly thread: string;
  readonly name: string;
  readonly text: string;
}

export const lineOf = ({ id, atMs, room, thread, name, text }: Message): string =>
  `${id} ${atMs} #${room}/${thread} ${name} ${encode(text)}`;

export function messageOf(line: string): Message {
  const [id = "", ms = "", at = "", name = "", text = ""] = wordsOf(line, 4);
  const [room = "", thread = ""] = at.slice(1).split("/");
  return { id, atMs: Number(ms), room, thread, name, text: decode(text) };
}

/** Calls `take` with each complete line from the socket. */
export function eachLine(socket: Socket, take: (line: string) => void): void {
  let begun = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (begun + chunk).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

/** Thrown when a request failed. `certainty` as in a `Fault`. */
export class ChatError extends Error {
  readonly certainty: "refused" | "not-sent" | "unknown";
  constructor(message: string, certainty: ChatError["certainty"]) {
    super(message);
    this.name = "ChatError";
    this.certainty = certainty;
  }
}

export interface Client {
  /** Resolves with the value of the answer; rejects with a `ChatError`. */
  request(line: string): Promise<string>;
  readonly closed: Promise<void>;
  close(): void;
}

/** Connects and says `hello`; `onSaid` gets each `said` line without that word. Rejects with a `ChatError`. */
export async function connectTo(
  address: string,
  hello: string,
  onSaid: (line: string) => void = () => {},
): Promise<Client> {
  const [host = "", port = ""] = address.split(":");
  const waiting = new Map<string, { ok(value: string): void; no(error: ChatError): void }>();
  const socket = connect({ host, port: Number(port) });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let count = 0;

  const request = (line: string): Promise<string> =>
    new Promise((ok, no) => {
      if (socket.destroyed) return no(new ChatError("The chat is not connected.", "not-sent"));
      count += 1;
      waiting.set(String(count), { ok, no });
      socket.write(`${count} ${line}\n`);
    });
  eachLine(socket, (line) => {
    const [first = "", verdict = "", rest = ""] = wordsOf(line, 2);
    if (first === "said") return onSaid(line.slice("said ".length));
    const asked = waiting.get(first);
    waiting.delete(first);
    if (verdict === "ok") asked?.ok(decode(rest));
    else asked?.no(new ChatError(rest, "refused"));
  });
  socket.on("error", () => {});
  void closed.then(() => {
    for (const { no } of waiting.values()) no(new ChatError("The connection to the chat broke.", "unknown"));
  });

  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    void closed.then(() => reject(new ChatError("The chat could not be reached.", "not-sent")));
  });
  await request(hello);
  return { request, closed, close: () => socket.destroy() };
}
