/** Server-sent events: each part of the page's state, whole, whenever it has changed. */

export interface Part {
  /** Name of the event. */
  readonly name: string;
  /** The part as it is now; it becomes JSON. */
  read(): unknown;
  /** Calls the listener after each change; the answer ends that. */
  subscribe(listener: () => void): () => void;
}

export interface Live {
  /** A stream that begins with every part and goes on until the client or `stop` ends it. */
  open(): Response;
  stop(): void;
}

/** Changes within this time make one event. */
const gatherMs = 60;
/** Proxies give up connections on which nothing is said. */
const keepAliveMs = 20_000;
/** Events that may wait for one slow client. */
const mostWaiting = 100;

export function createLive(parts: readonly Part[]): Live {
  const clients = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const encoder = new TextEncoder();
  const changed = new Set<Part>();
  let gathering: NodeJS.Timeout | null = null;
  let stopped = false;

  const frame = (part: Part): Uint8Array =>
    encoder.encode(`event: ${part.name}\ndata: ${JSON.stringify(part.read())}\n\n`);

  /** Who takes nothing any more is let go; a browser that is back begins with the whole state anyway. */
  function send(client: ReadableStreamDefaultController<Uint8Array>, chunk: Uint8Array): void {
    if ((client.desiredSize ?? 0) > -mostWaiting) return client.enqueue(chunk);
    clients.delete(client);
    client.close();
  }
  function flush(): void {
    gathering = null;
    const frames = [...changed].map(frame);
    changed.clear();
    for (const client of clients) for (const each of frames) send(client, each);
  }
  const unsubscribe = parts.map((part) =>
    part.subscribe(() => {
      changed.add(part);
      if (clients.size === 0) changed.clear();
      else gathering ??= setTimeout(flush, gatherMs);
    }),
  );
  const keepAlive = setInterval(() => {
    for (const client of clients) send(client, encoder.encode(": still here\n\n"));
  }, keepAliveMs);
  keepAlive.unref();

  return {
    open() {
      let own: ReadableStreamDefaultController<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          own = controller;
          // A browser that lost us, as when the bot is restarted, is back within a second.
          controller.enqueue(encoder.encode("retry: 1000\n\n"));
          for (const part of parts) controller.enqueue(frame(part));
          if (stopped) controller.close();
          else clients.add(controller);
        },
        cancel() {
          clients.delete(own);
        },
      });
      return new Response(stream, {
        headers: {
          "content-type": "text/event-stream; charset=utf-8",
          "cache-control": "no-store",
          "x-accel-buffering": "no",
        },
      });
    },
    stop() {
      stopped = true;
      clearInterval(keepAlive);
      if (gathering !== null) clearTimeout(gathering);
      for (const end of unsubscribe) end();
      for (const client of clients) client.close();
      clients.clear();
    },
  };
}
