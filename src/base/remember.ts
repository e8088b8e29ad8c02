/** A value that is requested once. */
export interface Remembered<T> {
  /** Resolves with the value, requesting it only if no request has succeeded. Rejects as the request does. */
  known(): Promise<T>;
  /** Requests the value again, unless a request is under way. */
  fresh(): Promise<T>;
}

/** Keeps the result of `ask`, but not its failures. */
export function remember<T>(ask: () => Promise<T>): Remembered<T> {
  let answer: { readonly value: T } | null = null;
  let underWay: Promise<T> | null = null;

  function fresh(): Promise<T> {
    underWay ??= ask()
      .then((value) => {
        answer = { value };
        return value;
      })
      .finally(() => {
        underWay = null;
      });
    return underWay;
  }

  return { known: () => (answer === null ? fresh() : Promise.resolve(answer.value)), fresh };
}
