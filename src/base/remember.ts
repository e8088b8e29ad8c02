/** A question that is asked until it is answered, and then no more. */
export interface Remembered<T> {
  /** Returns the answer, asking only while there is none. Rejects as the question does. */
  known(): Promise<T>;
  /** Asks again, unless the question is under way, and keeps the new answer. */
  fresh(): Promise<T>;
}

/** Keeps the answer of `ask`, but no failure. */
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
