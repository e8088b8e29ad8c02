/** The line chat: a loopback server for people and the bot. Messages are kept in memory. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type Client, connectTo, decode, eachLine, encode, lineOf, type Message, wordsOf } from "./lines.ts";

/** How soon the chat repeats an unacknowledged message to a listening bot. */
const repeatMs = 300;

export const botName = "agent";

export interface LineChat {
  /** `host:port`. */
  readonly address: string;
  /** All messages with their current text, oldest first. */
  readonly messages: readonly Message[];
  /** Whispers to the person, oldest first. */
  whispers(name: string): readonly string[];
  /** The marks on a message. */
  marks(id: string): readonly string[];
  /** A person joins by TCP. */
  join(name: string): Promise<Client>;
  /** Delivers a message to the listening bot again; resolves when the bot has acknowledged it. */
  tellAgain(id: string): Promise<void>;
  close(): Promise<void>;
}

interface Kept {
  message: Message;
  /** Set by the bot, to find the message again. */
  readonly key: string | null;
  readonly marks: string[];
}

export async function startLineChat(password: string): Promise<LineChat> {
  const kept: Kept[] = [];
  const whispered: { readonly name: string; readonly key: string; readonly text: string }[] = [];
  const sockets = new Set<Socket>();
  const listening = new Set<Socket>();
  let lastId = 0;

  function add(name: string, at: string, text: string, key: string | null): string {
    lastId += 1;
    const [room = "", thread = String(lastId)] = at.slice(1).split("/");
    const message = { id: String(lastId), atMs: Date.now(), room, thread, name, text: decode(text) };
    kept.push({ message, key, marks: [] });
    for (const socket of listening) tell(socket, message);
    return message.id;
  }

  /** Delivers it until it is acknowledged or the connection ends; a bot has to request missed messages. */
  function tell(socket: Socket, message: Message): void {
    socket.write(`said ${lineOf(message)}\n`);
    const repeat = setInterval(() => socket.write(`said ${lineOf(message)}\n`), repeatMs);
    const end = (): void => clearInterval(repeat);
    socket.once("close", end).once(`heard ${message.id}`, end);
  }

  const find = (id: string): Kept => {
    const found = kept.find(({ message }) => message.id === id);
    if (found === undefined) throw new Error("there is no such message");
    return found;
  };
  const listed = (which: (message: Message) => boolean): string =>
    kept.flatMap(({ message }) => (which(message) ? [lineOf(message)] : [])).join("\n");

  /** Performs a request and returns its value; throws a reason. */
  function answer(socket: Socket, who: string, verb: string, rest: string): string {
    const [one = "", two = "", three = ""] = wordsOf(rest, 2);
    if (verb === "say") return add(who, one, wordsOf(rest, 1)[1] ?? "", null);
    if (who !== botName) throw new Error("only the bot may do that");
    switch (verb) {
      case "post":
        return add(who, one, three, two);
      case "whisper":
        whispered.push({ name: one, key: two, text: decode(three) });
        return "";
      case "find":
        if (whispered.some(({ key }) => key === one)) return "whispered";
        return kept.find(({ key }) => key === one)?.message.id ?? "";
      case "edit": {
        const edited = find(one);
        edited.message = { ...edited.message, text: decode(wordsOf(rest, 1)[1] ?? "") };
        return "";
      }
      case "mark":
        find(one).marks.push(two);
        return "";
      case "thread":
        return listed(({ room, thread }) => `#${room}/${thread}` === one);
      case "since":
        return listed(({ atMs }) => atMs >= Number(one));
      case "listen":
        listening.add(socket);
        return "";
      case "heard":
        socket.emit(`heard ${one}`);
        return "";
      default:
        throw new Error("there is no such request");
    }
  }

  const server = createServer((socket) => {
    let who: string | null = null;
    sockets.add(socket);
    socket.setMaxListeners(0);
    socket.on("error", () => {});
    socket.once("close", () => {
      sockets.delete(socket);
      listening.delete(socket);
    });
    eachLine(socket, (line) => {
      const [number = "", verb = "", rest = ""] = wordsOf(line, 2);
      try {
        if (who !== null) return socket.write(`${number} ok ${encode(answer(socket, who, verb, rest))}\n`);
        if (verb === "person" && rest !== botName) who = rest;
        else if (verb === "bot" && rest === password) who = botName;
        else throw new Error("the password is wrong");
        socket.write(`${number} ok \n`);
      } catch (error) {
        socket.write(`${number} no ${error instanceof Error ? error.message : ""}\n`);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the chat has no port");
  const address = `127.0.0.1:${bound.port}`;

  return {
    address,
    get messages() {
      return kept.map(({ message }) => message);
    },
    whispers: (name) => whispered.flatMap((one) => (one.name === name ? [one.text] : [])),
    marks: (id) => find(id).marks,
    join: (name) => connectTo(address, `person ${name}`),
    async tellAgain(id) {
      for (const socket of listening) {
        tell(socket, find(id).message);
        await once(socket, `heard ${id}`);
      }
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
