/**
 * A schema's type as callers may write it: read-only throughout, and without the index signature of a loose
 * object, so that values of interfaces fit and misspelled fields don't. Maps keep theirs.
 */
export type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? [keyof Named<T>] extends [never]
      ? Readonly<Record<string, Plain<T[keyof T]>>>
      : { readonly [K in keyof Named<T>]: Plain<Named<T>[K]> }
    : T;

type Named<T> = { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] };
