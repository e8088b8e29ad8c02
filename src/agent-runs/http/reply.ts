/** An HTTP response, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The text as received; empty if the call does not need it and left it unread. */
  readonly body: string;
}

/** A 2xx response with its parsed content. */
export interface Reply<T> extends Answer {
  readonly data: T;
}

/** A promise of the parsed answer, which also gives the raw response. */
export interface Call<T> extends Promise<T> {
  /** Resolves with the parsed answer and the raw response; rejects as the call itself does. */
  withResponse(): Promise<Reply<T>>;
}

/** The call that resolves with this reply. */
export function callOf<T>(reply: Promise<Reply<T>>): Call<T> {
  const data = reply.then((each) => each.data);
  return Object.assign(data, {
    withResponse: () => {
      // A failure is reported by the returned promise, so it must not count as unhandled here too.
      data.catch(() => undefined);
      return reply;
    },
  });
}
