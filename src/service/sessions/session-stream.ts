/** Server-sent events with the changes in a run's view. Each reader gets the changes since its last event. */
import { createHash } from "node:crypto";
import type { Log } from "#base/log.ts";
import type { RunDocument } from "#service/run/run-document.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { changeBetween } from "./session-changes.ts";
import type { SessionMessage } from "./session-message.ts";
import { type SessionView, sessionView } from "./session-view.ts";

/** The sources and limits of the streams. */
export interface SessionStreamOptions {
  readonly runs: Pick<RunStore, "get" | "read">;
  /** The agent's output in the turn under way; null if there is none. */
  readonly live: (runId: string) => string | null;
  readonly now: () => number;
  readonly log: Log;
  readonly limits?: Partial<typeof defaultLimits>;
}

/** `stallMs`: how long a reader may leave its buffer full. */
const defaultLimits = { streamsPerRun: 20, streams: 200, stallMs: 60_000 };

/** The time between two checks of a watched run. */
const lookMs = 400;
/** Proxies and readers close connections that are silent for longer. */
const heartbeatMs = 15_000;
const mostBufferedBytes = 64_000;

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** The last event that it received before this stream. */
  readonly known: string;
  sent: SessionView | null;
  sentAt: number;
}

/** The latest view of a run, used again while nothing changes: reading and digesting 1.5 MB takes 50 ms. */
interface Look {
  readonly document: RunDocument;
  readonly output: string | null;
  readonly view: SessionView;
  readonly known: string;
}

/** A run with readers. */
interface Watch {
  readonly runId: string;
  readonly readers: Set<Reader>;
  timer: NodeJS.Timeout | null;
  latest: Look | null;
}

/** The id of an event: the number of messages that are final, and their digest. */
export function knownOf({ said }: Pick<RunDocument, "said">): string {
  const digest = createHash("sha256").update(JSON.stringify(said)).digest("base64url");
  return `${said.length}.${digest.slice(0, 22)}`;
}

/** The streams of all runs. */
export function createSessionStreams(options: SessionStreamOptions) {
  const { runs, live, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const watches = new Map<string, Watch>();
  const encoder = new TextEncoder();
  let open = 0;
  let stopped = false;

  function leave(watch: Watch, reader: Reader): void {
    if (!watch.readers.delete(reader)) return;
    open--;
    if (watch.readers.size > 0) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    watches.delete(watch.runId);
  }

  function end(watch: Watch, reader: Reader): void {
    leave(watch, reader);
    reader.controller.close();
  }

  /** Sends the changes of the run to every reader, and schedules the next check while there are any readers. */
  async function look(watch: Watch): Promise<void> {
    watch.timer = null;
    try {
      const latest = await refreshed(watch);
      watch.latest = latest;
      for (const reader of watch.readers) send(watch, reader, latest);
    } catch (error) {
      if (watch.readers.size === 0) return;
      log.error("a session could not be shown", { runId: watch.runId, error });
      for (const reader of watch.readers) end(watch, reader);
    }
    if (watch.readers.size > 0) watch.timer = setTimeout(() => void look(watch), lookMs);
  }

  async function refreshed({ runId, latest }: Watch): Promise<Look> {
    const isNew = latest === null || latest.document.run.updatedAt !== runs.get(runId)?.updatedAt;
    const document = isNew ? await runs.read(runId) : latest.document;
    if (document === null) throw new Error("the run is gone");
    const output = live(runId);
    if (!isNew && output === latest.output) return latest;
    const known = isNew ? knownOf(document) : latest.known;
    return { document, output, view: sessionView(document, output), known };
  }

  function send(watch: Watch, reader: Reader, { document, view, known }: Look): void {
    const { controller } = reader;
    const now = performance.now();
    // A slow reader gets all changes at once later.
    if ((controller.desiredSize ?? 0) <= 0) {
      if (now - reader.sentAt > limits.stallMs) end(watch, reader);
      return;
    }
    const change =
      reader.sent === null ? firstChange(reader.known, document, view) : changeBetween(reader.sent, view);
    if (change !== null) {
      const message: SessionMessage = { now: options.now(), ...change };
      controller.enqueue(encoder.encode(`id: ${known}\ndata: ${JSON.stringify(message)}\n\n`));
    } else if (now - reader.sentAt > heartbeatMs) controller.enqueue(encoder.encode(":\n\n"));
    else return;
    reader.sent = view;
    reader.sentAt = now;
  }

  return {
    /**
     * A stream of everything after `known` (`knownOf` of an earlier view, "" for none) until the reader or `stop`
     * ends it. Refused while too many are open.
     */
    open(runId: string, known: string): Result<Response> {
      const watch = watches.get(runId) ?? { runId, readers: new Set(), timer: null, latest: null };
      if (stopped) return refused("resource_unavailable", "The service is stopping.");
      if (open >= limits.streams || watch.readers.size >= limits.streamsPerRun) return tooMany;
      watches.set(runId, watch);
      let reader: Reader;
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            reader = { controller, known, sent: null, sentAt: performance.now() };
            watch.readers.add(reader);
            open++;
            // For readers that reconnect by themselves, such as an EventSource.
            controller.enqueue(encoder.encode("retry: 3000\n\n"));
          },
          cancel: () => leave(watch, reader),
        },
        new ByteLengthQueuingStrategy({ highWaterMark: mostBufferedBytes }),
      );
      // A new reader does not wait for the next check.
      if (watch.timer !== null) clearTimeout(watch.timer);
      if (watch.timer !== null || watch.readers.size === 1) void look(watch);
      return { ok: true, value: new Response(body, { headers: streamHeaders }) };
    },
    /** Ends every stream and refuses new ones. */
    stop(): void {
      stopped = true;
      for (const watch of watches.values()) for (const reader of watch.readers) end(watch, reader);
    },
  };
}

/** The headers of a stream. */
export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // Keeps proxies from buffering the response.
  "x-accel-buffering": "no",
};

const tooMany = refused(
  "resource_unavailable",
  "Too many people are watching runs right now. Try again in a while.",
  { headers: { "retry-after": "30" } },
);

/** Everything after `known`. `keep`: how many of the reader's entries still hold. */
function firstChange(known: string, { said }: RunDocument, view: SessionView): Omit<SessionMessage, "now"> {
  // Messages that were said never change, so an earlier view has the first of them.
  const count = Number.parseInt(known, 10);
  const holds = count > 0 && count <= said.length && knownOf({ said: said.slice(0, count) }) === known;
  const keep = holds ? count : 0;
  const change = changeBetween({ head: view.head, entries: view.entries.slice(0, keep) }, view);
  return { keep, count: view.entries.length, ...change, view: view.head };
}
