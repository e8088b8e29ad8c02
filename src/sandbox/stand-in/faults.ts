/** Injected failures of a platform or the network, for tests. */

/** `after`: the request takes effect, but its response is lost. */
type Moment = "before" | "after";

/** Failures without a response. */
export interface Trouble {
  /** Never answers. */
  readonly hang?: Moment;
  /** Breaks the connection. */
  readonly reset?: Moment;
}

/** A failure of the next requests that match. */
export interface Fault {
  /** How many requests it hits; 1 if absent. */
  readonly times?: number;
  readonly with: Trouble;
}

/** A queue of pending faults. */
export function createFaults<F extends Fault>() {
  let pending: { readonly fault: F; left: number }[] = [];
  return {
    add(fault: F): void {
      pending.push({ fault, left: fault.times ?? 1 });
    },
    clear(): void {
      pending = [];
    },
    /** Consumes one use of the first matching fault; undefined if none matches. */
    take(hits: (fault: F) => boolean): F["with"] | undefined {
      const entry = pending.find(({ fault }) => hits(fault));
      if (entry === undefined) return undefined;
      entry.left -= 1;
      pending = pending.filter(({ left }) => left > 0);
      return entry.fault.with;
    },
  };
}

/** Makes the call and returns its response; injects the failure before or after it. `cut` breaks the connection. */
export async function withTrouble(
  { hang, reset }: Trouble,
  request: Request,
  cut: () => Response | Promise<Response>,
  call: () => Response | Promise<Response>,
): Promise<Response> {
  if (hang === "before") return silence(request);
  if (reset === "before") return cut();
  const answer = await call();
  if (hang === "after") return silence(request);
  return reset === "after" ? cut() : answer;
}

/** Resolves with a 499, which nobody reads, once the caller has given up. */
export async function silence({ signal }: Request): Promise<Response> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  return new Response(null, { status: 499 });
}
