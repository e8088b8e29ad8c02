import { RequestAbortedError } from "../errors.ts";

/** The error for a call that its caller aborted; `sent`: the request may have taken effect. */
export const abortedError = (signal: AbortSignal, sent: boolean): RequestAbortedError =>
  new RequestAbortedError(
    {
      certainty: sent ? "unknown" : "not-sent",
      retryable: true,
      reason: "The call to the Agent Runs API was aborted.",
    },
    { cause: signal.reason },
  );

/** Resolves after `ms`; rejects with an `abortedError` if the signal is aborted first. */
export function pause(ms: number, signal: AbortSignal | undefined, sent: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      settle();
    };
    const timer = setTimeout(() => end(resolve), ms);
    const abort = () => end(() => signal !== undefined && reject(abortedError(signal, sent)));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}
