/** Troubles to order, so that tests can see what the bot makes of them. */

export interface SlackFault {
  /** A Web API method, or `respond` for a response_url. */
  readonly method: string;
  /** How many calls it befalls; 1 if absent. */
  readonly times?: number;
  readonly with: {
    /** HTTP status of an answer without sense. */
    readonly status?: number;
    /** Slack's error code. */
    readonly error?: string;
    /** Seconds: the answer is a 429. */
    readonly retryAfter?: number;
    /** Never answer: `after` the call has taken effect, or `before`. */
    readonly hang?: "before" | "after";
    /** Break the connection: `after` the call has taken effect, or before (`true` is `before`). */
    readonly reset?: "before" | "after" | true;
  };
}

export interface Faults {
  add(fault: SlackFault): void;
  /** Carries out the call unless a fault for it comes before. */
  around(method: string, request: Request, call: () => Promise<Response>): Promise<Response>;
}

export function createFaults(): Faults {
  let pending: { readonly fault: SlackFault; left: number }[] = [];

  function next(method: string): SlackFault["with"] | null {
    const entry = pending.find(({ fault }) => fault.method === method);
    if (entry === undefined) return null;
    entry.left -= 1;
    pending = pending.filter(({ left }) => left > 0);
    return entry.fault.with;
  }

  return {
    add: (fault) => pending.push({ fault, left: fault.times ?? 1 }),
    async around(method, request, call) {
      const trouble = next(method);
      if (trouble === null) return call();
      if (trouble.hang === "after" || trouble.reset === "after") await call();
      if (trouble.hang !== undefined) return never(request);
      if (trouble.reset !== undefined) return broken();
      if (trouble.retryAfter !== undefined) {
        const headers = { "retry-after": String(trouble.retryAfter) };
        return Response.json({ ok: false, error: "ratelimited" }, { status: 429, headers });
      }
      if (trouble.status !== undefined)
        return new Response("<html>trouble</html>", { status: trouble.status });
      return Response.json({ ok: false, error: trouble.error ?? "internal_error" });
    },
  };
}

/** Waits until the caller has given up. */
async function never(request: Request): Promise<Response> {
  if (!request.signal.aborted) {
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
  }
  return new Response(null, { status: 499 });
}

/** An answer whose body breaks off; the server that carries it breaks the connection. */
const broken = (): Response =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(new Error("the connection was reset to order"));
      },
    }),
    { headers: { "content-type": "application/json" } },
  );
