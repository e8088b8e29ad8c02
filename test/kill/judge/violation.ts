/** One promise that was broken, and how. */
export interface Violation {
  readonly promise: string;
  readonly what: string;
}

export type Wrong = (promise: string, what: string) => void;
