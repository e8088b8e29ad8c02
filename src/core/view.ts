import type { Person } from "./person.ts";

/** A piece of a sentence. Strings are plain text that the adapter escapes. */
export type Span =
  | string
  | { readonly strong: string }
  | { readonly code: string }
  | { readonly person: Person }
  | { readonly link: string; readonly label: string };
export type Text = readonly Span[];

export interface Action {
  readonly action: "cancel" | "retry";
  readonly label: string;
  readonly dispatch: string;
}

/** What people are told, before a platform gives it a form and an order. */
export interface View {
  readonly tone: "waiting" | "working" | "attention" | "good" | "bad" | "plain";
  readonly headline: Text;
  /** Plain text somebody else wrote (a prompt, a title), shown as a quotation. */
  readonly quote?: string;
  /** What the agent wrote: Markdown, not to be trusted. */
  readonly answer?: string;
  readonly details: readonly Text[];
  readonly actions: readonly Action[];
}
