/** Takes in events from people, also those that come before what they belong to. */
import { createInFlight } from "#base/in-flight.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import { type PlatformEvent, type ReplyEvent, refOf } from "#core/event.ts";
import type { Ref, Scope } from "#core/place.ts";
import { refsOf, type Thread } from "#core/thread.ts";
import type { Observe } from "#engine/base/engine-event.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Accept, Clock, Store } from "#ports.ts";
import { createEarlyReplies, earlyReply } from "./accept-early-replies.ts";
import { EngineStopped } from "./engine-stopped.ts";
import type { Save, Saved } from "./save.ts";

const retryMs = 5_000;

/** The receiving side of the engine. */
export interface Accepting {
  /** See `Accept`. Rejects with `EngineStopped` after `close`. */
  readonly accept: Accept<PlatformEvent>;
  /** Saves an event that no sender repeats. Rejects like `Save`. */
  readonly take: (event: PlatformEvent) => Promise<Saved>;
  /** Decides the events that waited for this thread. */
  onSaved(thread: Thread): void;
  /** No event waits any longer for what it belongs to. */
  drain(): void;
  /** Accepts nothing more; resolves when all accepted events are saved. */
  close(): Promise<void>;
}

/** Options of `createAccepting`. */
export interface AcceptingOptions {
  readonly store: Store;
  readonly save: Save;
  /** Resolves when the scope is saved, so that its missed events are found. Rejects like the store. */
  readonly keepScope: (scope: Scope) => Promise<void>;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe: Observe;
}

/** Creates the receiving side. */
export function createAccepting(options: AcceptingOptions): Accepting {
  const { store, save, keepScope, timers, clock, log, observe } = options;
  const underWay = createInFlight();
  const early = createEarlyReplies(options);
  /** Wakes the events that wait for a thread with the ref. */
  const waiting = new Map<Ref, Set<() => void>>();
  let isDraining = false;
  let isClosed = false;

  async function take(event: PlatformEvent): Promise<Saved> {
    const saved = await save(event);
    if (saved.answer === "saved" && saved.thread !== null) await keepScope(saved.thread.scope);
    const reply = earlyReply(event);
    if (reply === null) return saved;
    // A reply that was saved may wait for a run that is then not made; a later one may still be its own.
    if (saved.answer !== "ignored" && saved.thread?.runs.length !== 0) early.drop(reply);
    else {
      early.keep(reply, saved.thread);
      // Its request may have been saved since the decision.
      const thread = await store.find(reply.place);
      if (thread !== null) decideEarly(thread);
    }
    return saved;
  }

  /** Begins all decisions at once, so that the store keeps their order. */
  function decideEarly(thread: Thread): void {
    for (const reply of early.due(thread)) decideAgain(reply);
  }

  function decideAgain(reply: ReplyEvent): void {
    if (isClosed || !early.has(reply)) return;
    underWay.track(take(reply)).catch((error: unknown) => {
      log.warn("A reply that came before its request could not be saved; retrying", {
        event: reply.id,
        reason: reasonOf(error),
      });
      timers.after(retryMs, () => decideAgain(reply));
    });
  }

  /** Resolves when a thread with the ref is saved, after `ms`, or when draining. */
  function threadSaved(ref: Ref, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wakes = waiting.get(ref) ?? new Set();
      const wake = (): void => {
        callOff();
        wakes.delete(wake);
        if (wakes.size === 0) waiting.delete(ref);
        resolve();
      };
      const callOff = timers.after(ms, wake);
      waiting.set(ref, wakes.add(wake));
    });
  }

  async function takePatiently(event: PlatformEvent, patienceMs: number): Promise<Saved> {
    const saved = await take(event);
    if (saved.answer !== "again" || patienceMs <= 0 || isDraining) return saved;
    const placed = threadSaved(refOf(event), patienceMs);
    // Its thread may have been saved since the first decision.
    const second = await take(event);
    if (second.answer !== "again") return second;
    await placed;
    return take(event);
  }

  function drain(): void {
    isDraining = true;
    for (const wakes of waiting.values()) for (const wake of wakes) wake();
  }

  return {
    take,
    async accept(event, patienceMs = 0) {
      if (isClosed) throw new EngineStopped();
      const began = clock.elapsed();
      const measure = (answer: "saved" | "ignored" | "again" | "failed"): void =>
        observe({ kind: "accepted", event: event.kind, answer, durationMs: clock.elapsed() - began });
      try {
        const { answer } = await underWay.track(takePatiently(event, patienceMs));
        // `unknown` occurs only for hand-overs.
        const known = answer === "unknown" ? "ignored" : answer;
        measure(known);
        return known;
      } catch (error) {
        measure("failed");
        throw error;
      }
    },
    onSaved(thread) {
      decideEarly(thread);
      if (waiting.size === 0) return;
      for (const ref of refsOf(thread)) for (const wake of waiting.get(ref) ?? []) wake();
    },
    drain,
    async close() {
      isClosed = true;
      drain();
      await underWay.idle();
    },
  };
}
