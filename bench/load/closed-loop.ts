/**
 * Sends requests over a few kept connections, each after the answer to the one before. It writes HTTP itself, since
 * a full client would take longer than the measured servers.
 */
import { connect, type Socket } from "node:net";

export interface Volume {
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds from sending to the complete answer, one for each request. */
  readonly waits: readonly number[];
}

export interface Wanted {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

/** Keeps `connections` busy for the given time. Rejects if an answer is not a 200. */
export async function closedLoop(
  url: string,
  next: () => Wanted,
  { key, connections, forMs }: { readonly key: string; readonly connections: number; readonly forMs: number },
): Promise<Volume> {
  const { hostname, port } = new URL(url);
  const head = `host: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n`;
  const waits: number[] = [];
  const begin = performance.now();
  const until = begin + forMs;
  const sockets: Socket[] = [];

  const keepBusy = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.setNoDelay(true);
      let sentAt = 0;
      let chunks: Buffer[] = [];
      let missing: number | null = null;
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt >= until) return resolve();
        const { method, path, body = "" } = next();
        const length = method === "GET" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
        socket.write(`${method} ${path} HTTP/1.1\r\n${head}${length}\r\n${body}`);
      };
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`${url} closed the connection`)));
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (missing === null) {
          if (chunks.length > 1) chunks = [Buffer.concat(chunks)];
          missing = missingOf(chunks[0] ?? chunk);
          if (missing === null) return;
        } else missing -= chunk.length;
        if (missing > 0) return;
        if (chunks[0]?.toString("latin1", 9, 12) !== "200") {
          return reject(new Error(`${url} answered ${Buffer.concat(chunks).toString()}`));
        }
        waits.push(performance.now() - sentAt);
        chunks = [];
        missing = null;
        send();
      });
    });

  try {
    await Promise.all(Array.from({ length: connections }, keepBusy));
  } finally {
    for (const socket of sockets) socket.removeAllListeners("close").destroy();
  }
  return { rate: (waits.length * 1000) / (performance.now() - begin), waits };
}

/** Returns the number of missing bytes after this beginning of an answer; null if its header is incomplete. */
function missingOf(beginning: Buffer): number | null {
  const end = beginning.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const length = /\r\ncontent-length: (\d+)/i.exec(beginning.toString("latin1", 0, end))?.[1];
  if (length === undefined) throw new Error("an answer does not tell its length");
  return end + 4 + Number(length) - beginning.length;
}
