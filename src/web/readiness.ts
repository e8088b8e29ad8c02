/** Resolves if what it stands for answers; rejects with an Error whose message is a sentence for people. */
export type Check = () => Promise<unknown>;

/** Each check's name with `ok` or the reason why not. */
export type Readiness = Readonly<Record<string, string>>;

/**
 * Runs all checks at once, each for `timeoutMs` at most. An answer is given again for `cacheMs`, so that
 * frequent questions cost the outside world nothing.
 */
export function createReadiness(
  checks: Readonly<Record<string, Check>>,
  { timeoutMs, cacheMs, now }: { timeoutMs: number; cacheMs: number; now: () => number },
): () => Promise<Readiness> {
  let last: { at: number; answer: Promise<Readiness> } | null = null;
  return () => {
    if (last === null || now() - last.at >= cacheMs) last = { at: now(), answer: runAll(checks, timeoutMs) };
    return last.answer;
  };
}

async function runAll(checks: Readonly<Record<string, Check>>, timeoutMs: number): Promise<Readiness> {
  const answers = Object.entries(checks).map(async ([name, check]) => [name, await run(check, timeoutMs)]);
  return Object.fromEntries(await Promise.all(answers));
}

async function run(check: Check, timeoutMs: number): Promise<string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
  try {
    return await Promise.race([Promise.resolve(check()).then(() => "ok"), late.promise]);
  } catch (error) {
    return error instanceof Error ? error.message : "it failed without a reason";
  } finally {
    clearTimeout(timer);
  }
}
