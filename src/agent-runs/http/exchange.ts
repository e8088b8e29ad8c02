import ky from "ky";
import type { Answer } from "./status-error.ts";

/** One request on the wire. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Of the whole of it, the reading of the body included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** Leave the body of a 2xx alone. */
  readonly bodyless: boolean;
}

/** Sends one request and reads its answer, whatever its status; rejects as ky and `fetch` do. */
export async function exchange(request: Exchange): Promise<Answer> {
  const { body } = request;
  const pending = ky(request.url, {
    method: request.method,
    headers: request.headers,
    ...(request.fetch === undefined
      ? // Fetch pipes a body that is inside a Request through one more stream, which costs a tenth of the call.
        body !== undefined && { fetch: (input: string | URL | Request) => globalThis.fetch(input, { body }) }
      : { fetch: request.fetch, ...(body !== undefined && { body }) }),
    // ky's own retries read neither `retry-after-ms` nor a body that broke off, and know no certainty.
    retry: 0,
    throwHttpErrors: false,
    // Whole tries are timed, the reading of the body included.
    timeout: false,
    totalTimeout: request.timeoutMs,
    // A redirect could carry the key, or a prompt, to another host.
    redirect: "manual",
    ...(request.signal !== undefined && { signal: request.signal }),
  });
  const response = await pending;
  const { status, headers } = response;
  // The status of a failure tells enough if its body is lost.
  if (!response.ok) return { status, headers, body: await pending.text().catch(() => "") };
  if (!request.bodyless) return { status, headers, body: await pending.text() };
  void response.body?.cancel().catch(() => undefined);
  return { status, headers, body: "" };
}
