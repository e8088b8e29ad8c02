import type { RunRecord, Thread } from "#core/thread.ts";
import type { LocalStore } from "#store/local-store.ts";

export { recordingLog as memoryLog } from "#test/support/logs.ts";

export function newThread(id: string, more: Partial<Thread> = {}): Thread {
  return {
    version: 1,
    id,
    scope: "slack:T1:C1",
    places: [],
    runs: [],
    decided: 0,
    effects: [],
    waiting: [],
    seen: [],
    said: [],
    muted: false,
    mutedUntil: null,
    changedAt: "2026-01-01T00:00:00.000Z",
    ...more,
  };
}

export function newRun(runId: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    dispatch: `dispatch of ${runId}`,
    runId,
    name: "test",
    by: { platform: "slack", id: "U1", name: "Ada", bot: false },
    asked: "fix it",
    request: null,
    since: "2026-01-01T00:00:00.000Z",
    askedAt: null,
    open: false,
    run: null,
    told: null,
    reopened: false,
    delay: null,
    cancelling: false,
    failed: null,
    cards: {},
    ...more,
  };
}

/** Saves the thread, replacing the one with its id. */
export async function put(store: LocalStore, thread: Thread): Promise<void> {
  await store.change(thread.id, () => ({ thread, result: null }));
}

/** Adds an event id to the ref's thread, beginning one if necessary. */
export function see(
  store: LocalStore,
  ref: string,
  event: string,
  more: Partial<Thread> = {},
): Promise<number> {
  return store.change(ref, (thread) => {
    const before = thread ?? newThread(ref);
    const seen = [...before.seen, event];
    return { thread: { ...before, ...more, seen }, result: seen.length };
  });
}

export async function ids(threads: AsyncIterable<Thread>): Promise<string[]> {
  const found: string[] = [];
  for await (const thread of threads) found.push(thread.id);
  return found.sort();
}
