/** Streams of what changes in a run's view, as server-sent events; each reader is sent what it lacks. */
import { createHash } from "node:crypto";
import type { Log } from "#base/log.ts";
import type { RunDocument } from "#service/run/run-document.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { changeBetween } from "./session-changes.ts";
import { type SessionView, sessionView } from "./session-view.ts";

export interface SessionStreamOptions {
  readonly runs: Pick<RunStore, "get" | "read">;
  /** What the agent wrote in the turn under way; the same string while nothing was added. */
  readonly live: (runId: string) => string | null;
  readonly now: () => number;
  readonly log: Log;
  readonly limits?: Partial<typeof defaultLimits>;
}

export interface SessionStreams {
  /**
   * A stream that begins with all that lies past `known` (what `knownOf` said of an earlier view; "" for
   * none) and goes on until the reader, or `stop`, ends it. Refused where too many are open.
   */
  open(runId: string, known: string): Result<Response>;
  /** Ends every stream; none begins any more. */
  stop(): void;
}

/** `stallMs`: how long a reader may take nothing of what waits for it. */
const defaultLimits = { streamsPerRun: 20, streams: 200, stallMs: 60_000 };

/** How often a watched run is looked at: nothing is sent more often. */
const lookMs = 400;
/** Proxies and readers give up connections on which nothing is said. */
const heartbeatMs = 15_000;
const mostBufferedBytes = 64_000;

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** What it was told that it knows, before the first view. */
  readonly known: string;
  sent: SessionView | null;
  sentAt: number;
}

interface Watch {
  readonly runId: string;
  readonly readers: Set<Reader>;
  timer: NodeJS.Timeout | null;
  document: RunDocument | null;
  output: string | null;
  view: SessionView | null;
  known: string;
}

/**
 * What a reader of the view need not be sent again: how many entries are said for good, and their digest,
 * which tells whether they are the same ones.
 */
export function knownOf({ said }: RunDocument): string {
  const digest = createHash("sha256").update(JSON.stringify(said)).digest("base64url");
  return `${said.length}.${digest.slice(0, 22)}`;
}

export function createSessionStreams(options: SessionStreamOptions): SessionStreams {
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

  /** Looks at the run once, tells every reader, and comes back after a while if anyone is left. */
  async function look(watch: Watch): Promise<void> {
    watch.timer = null;
    try {
      await refresh(watch);
      for (const reader of watch.readers) tell(watch, reader);
    } catch (error) {
      if (watch.readers.size === 0) return;
      log.error("a session could not be shown", { runId: watch.runId, error });
      for (const reader of watch.readers) end(watch, reader);
    }
    if (watch.readers.size > 0) watch.timer = setTimeout(() => void look(watch), lookMs);
  }

  async function refresh(watch: Watch): Promise<void> {
    const { runId } = watch;
    const updatedAt = runs.get(runId)?.updatedAt;
    const isNew = watch.document === null || watch.document.run.updatedAt !== updatedAt;
    const document = isNew ? await runs.read(runId) : watch.document;
    if (document === null) throw new Error("the run is gone");
    const output = live(runId);
    if (!isNew && output === watch.output) return;
    if (isNew) watch.known = knownOf(document);
    watch.document = document;
    watch.output = output;
    watch.view = sessionView(document, output);
  }

  function tell(watch: Watch, reader: Reader): void {
    const { view, document, known } = watch;
    if (view === null || document === null) return;
    const { controller } = reader;
    const now = performance.now();
    // Who is slow is sent the sum of the changes later, not each of them.
    if ((controller.desiredSize ?? 0) <= 0) {
      if (now - reader.sentAt > limits.stallMs) end(watch, reader);
      return;
    }
    const data =
      reader.sent === null ? firstMessage(reader, document, view) : changeBetween(reader.sent, view);
    if (data !== null) {
      const message = JSON.stringify({ now: options.now(), ...data });
      controller.enqueue(encoder.encode(`id: ${known}\ndata: ${message}\n\n`));
    } else if (now - reader.sentAt > heartbeatMs) controller.enqueue(encoder.encode(":\n\n"));
    else return;
    reader.sent = view;
    reader.sentAt = now;
  }

  return {
    open(runId, known) {
      const watch = watches.get(runId) ?? newWatch(runId);
      if (stopped) return refused("resource_unavailable", "The service is stopping.");
      if (open >= limits.streams || watch.readers.size >= limits.streamsPerRun) {
        return tooMany;
      }
      watches.set(runId, watch);
      let reader: Reader;
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            reader = { controller, known, sent: null, sentAt: performance.now() };
            watch.readers.add(reader);
            open++;
            // For readers that follow by themselves, such as an EventSource.
            controller.enqueue(encoder.encode("retry: 3000\n\n"));
          },
          cancel: () => leave(watch, reader),
        },
        new ByteLengthQueuingStrategy({ highWaterMark: mostBufferedBytes }),
      );
      // A new reader does not wait for the next look.
      if (watch.timer !== null) clearTimeout(watch.timer);
      if (watch.timer !== null || watch.readers.size === 1) void look(watch);
      return { ok: true, value: new Response(body, { headers: streamHeaders }) };
    },
    stop() {
      stopped = true;
      for (const watch of watches.values()) for (const reader of watch.readers) end(watch, reader);
    },
  };
}

export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // Proxies that gather answers would hold this one up for ever.
  "x-accel-buffering": "no",
};

const tooMany: Result<never> = {
  ok: false,
  refusal: {
    code: "resource_unavailable",
    detail: "Too many people watch this service now; try again in a while.",
    headers: { "retry-after": "30" },
  },
};

const newWatch = (runId: string): Watch => ({
  runId,
  readers: new Set(),
  timer: null,
  document: null,
  output: null,
  view: null,
  known: "",
});

/** `keep`: how many of the reader's entries stand; those after it are to be dropped. */
function firstMessage({ known }: Reader, document: RunDocument, view: SessionView) {
  const keep = known === "" ? 0 : knownPart(known, document);
  const before: SessionView = { head: view.head, entries: view.entries.slice(0, keep) };
  const change = changeBetween(before, view) ?? { count: view.entries.length };
  return { keep, ...change, view: view.head };
}

/** What was said never changes, so an earlier view knows a beginning of it. */
function knownPart(known: string, document: RunDocument): number {
  const count = Number.parseInt(known, 10);
  if (!(count > 0 && count <= document.said.length)) return 0;
  return knownOf({ ...document, said: document.said.slice(0, count) }) === known ? count : 0;
}
