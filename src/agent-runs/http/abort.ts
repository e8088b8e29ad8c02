import { RequestAbortedError } from "../errors.ts";

/** The error for a call that its caller gave up; `sent`: a write may have happened. */
export const abortedError = (signal: AbortSignal, sent: boolean): RequestAbortedError =>
  new RequestAbortedError(
    {
      certainty: sent ? "unknown" : "not-sent",
      retryable: true,
      reason: "The call to the Agent Runs API was given up.",
    },
    { cause: signal.reason },
  );

/** Resolves after `ms`; rejects if the signal is aborted before. */
export function pause(ms: number, signal: AbortSignal | undefined, sent: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      settle();
    };
    const timer = setTimeout(() => end(resolve), ms);
    const giveUp = () => end(() => signal !== undefined && reject(abortedError(signal, sent)));
    signal?.addEventListener("abort", giveUp, { once: true });
    if (signal?.aborted) giveUp();
  });
}
