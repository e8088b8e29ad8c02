import type { Clock } from "#ports.ts";

/** Timers that can all be cancelled together when the engine stops. */
export interface Timers {
  /** Calls `then` once after `ms`; the returned function cancels it. Does nothing once the timers are closed. */
  after(ms: number, then: () => void): () => void;
  /** Resolves after `ms`, or as soon as the timers are closed. */
  sleep(ms: number): Promise<void>;
  /** Cancels every timer. */
  close(): void;
  /** Returns whether `close` was called. */
  closed(): boolean;
}

/** The longest single timer, since platforms limit their range; longer waits take several. */
const longestMs = 3_600_000;

/** Creates timers on the clock. */
export function createTimers(clock: Clock): Timers {
  const endings = new Set<() => void>();
  let closed = false;

  function wait(ms: number, then: () => void, whenClosed: () => void): () => void {
    if (closed) {
      whenClosed();
      return () => {};
    }
    const until = clock.elapsed() + ms;
    let callOff = (): void => {};
    const end = (): void => {
      callOff();
      whenClosed();
    };
    const arm = (): void => {
      const leftMs = Math.max(until - clock.elapsed(), 0);
      callOff = clock.after(Math.min(leftMs, longestMs), () => {
        if (leftMs > longestMs) return arm();
        endings.delete(end);
        then();
      });
    };
    endings.add(end);
    arm();
    return () => {
      endings.delete(end);
      callOff();
    };
  }

  return {
    after: (ms, then) => wait(ms, then, () => {}),
    sleep: (ms) =>
      new Promise((resolve) => {
        wait(ms, resolve, resolve);
      }),
    close() {
      closed = true;
      for (const end of [...endings]) end();
      endings.clear();
    },
    closed: () => closed,
  };
}
