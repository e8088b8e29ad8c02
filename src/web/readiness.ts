/** Checks a system: rejects, if it does not work, with an Error whose message is a sentence for people. */
export type Check = () => Promise<unknown>;

/** Each check's name with `ok`, or the reason why it failed. */
export type Readiness = Readonly<Record<string, string>>;

/**
 * Returns a function that runs all checks at once, each for `timeoutMs` at most. Its result is reused for
 * `cacheMs` by `now`, a clock that nobody can set, so that frequent probes don't use up the platforms' rate limits.
 */
export function createReadiness(
  checks: Readonly<Record<string, Check>>,
  { timeoutMs, cacheMs, now }: { timeoutMs: number; cacheMs: number; now: () => number },
): () => Promise<Readiness> {
  let last: { at: number; result: Promise<Readiness> } | null = null;
  return () => {
    if (last === null || now() - last.at >= cacheMs) last = { at: now(), result: runAll(checks, timeoutMs) };
    return last.result;
  };
}

async function runAll(checks: Readonly<Record<string, Check>>, timeoutMs: number): Promise<Readiness> {
  const results = Object.entries(checks).map(async ([name, check]) => [name, await run(check, timeoutMs)]);
  return Object.fromEntries(await Promise.all(results));
}

async function run(check: Check, timeoutMs: number): Promise<string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
  try {
    return await Promise.race([Promise.resolve(check()).then(() => "ok"), late.promise]);
  } catch (error) {
    return error instanceof Error ? error.message : "unknown error";
  } finally {
    clearTimeout(timer);
  }
}
