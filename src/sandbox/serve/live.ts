/** Server-sent events: each part of the page's state, whole, after every change. */

/** A part of the page's state. */
export interface Part {
  /** Name of the event. */
  readonly name: string;
  /** The part as it is now; it is sent as JSON. */
  read(): unknown;
  /** Calls the listener after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** Changes within this time are sent as one event. */
const gatherMs = 60;
/** Proxies end idle connections. */
const keepAliveMs = 20_000;
/** The number of events that are buffered for a slow client. */
const mostWaiting = 100;

/** Streams the parts to any number of clients. */
export function createLive(parts: readonly Part[]) {
  const clients = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const encoder = new TextEncoder();
  const changed = new Set<Part>();
  let gathering: NodeJS.Timeout | null = null;
  let stopped = false;

  const frame = (part: Part): Uint8Array =>
    encoder.encode(`event: ${part.name}\ndata: ${JSON.stringify(part.read())}\n\n`);

  /** Drops a client that stopped reading; a browser that reconnects gets the whole state anyway. */
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
    /** A stream that begins with every part, and lasts until the client or `stop` ends it. */
    open(): Response {
      let own: ReadableStreamDefaultController<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          own = controller;
          // A browser reconnects after a second, for instance when the bot is restarted.
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
    stop(): void {
      stopped = true;
      clearInterval(keepAlive);
      if (gathering !== null) clearTimeout(gathering);
      for (const end of unsubscribe) end();
      for (const client of clients) client.close();
      clients.clear();
    },
  };
}
