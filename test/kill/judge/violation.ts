/** One broken promise, with an explanation. */
export interface Violation {
  readonly promise: string;
  readonly what: string;
}

export type Wrong = (promise: string, what: string) => void;
