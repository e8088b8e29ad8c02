/** A 2xx answer: what it says, and how it came. */
export interface Reply<T> {
  readonly data: T;
  readonly status: number;
  readonly headers: Headers;
  /** As it came; empty where a call needs no body and leaves it alone. */
  readonly body: string;
}

/** What a call answers: a promise of the parsed answer, which can tell the raw one too. */
export interface Call<T> extends Promise<T> {
  /** Resolves with the parsed answer and the raw one; rejects as the call itself does. */
  withResponse(): Promise<Reply<T>>;
}

/** A call with this reply. */
export function callOf<T>(reply: Promise<Reply<T>>): Call<T> {
  const data = reply.then((each) => each.data);
  return Object.assign(data, {
    withResponse: () => {
      // Whoever asks for the whole reply hears of its failure there, and need not listen here too.
      data.catch(() => undefined);
      return reply;
    },
  });
}
