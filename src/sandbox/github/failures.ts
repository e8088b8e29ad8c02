/** Failures on demand: what a GitHub in trouble, or the network before it, would do to a request. */

export interface Failure {
  /** Any method if absent. */
  readonly method?: string;
  /** The whole path, or what it must match. */
  readonly path: RegExp | string;
  /** How many requests it hits; 1 if absent. */
  readonly times?: number;
  readonly with: {
    /** Answers with this instead of doing what was asked. */
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    /** Never answers: `before` it was done, or `after`. */
    readonly hang?: "before" | "after";
    /** Cuts the connection: `before` it was done, or `after`. */
    readonly reset?: "before" | "after";
  };
}

export function createFailures() {
  let pending: { failure: Failure; left: number }[] = [];

  const hits = (failure: Failure, method: string, path: string): boolean =>
    (failure.method === undefined || failure.method.toUpperCase() === method) &&
    (typeof failure.path === "string" ? failure.path === path : failure.path.test(path));

  return {
    add(failure: Failure): void {
      pending.push({ failure, left: failure.times ?? 1 });
    },

    /** The failure that hits this request, one of its times used up. */
    take(method: string, path: string): Failure["with"] | null {
      const entry = pending.find(({ failure }) => hits(failure, method, path));
      if (entry === undefined) return null;
      entry.left -= 1;
      pending = pending.filter(({ left }) => left > 0);
      return entry.failure.with;
    },
  };
}
