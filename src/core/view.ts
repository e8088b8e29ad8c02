import type { Person } from "./person.ts";
import type { DispatchId } from "./place.ts";

/** A piece of a sentence. A string is plain text, which the adapter escapes. */
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
  readonly dispatch: DispatchId;
}

/** A message to people, before an adapter gives it its platform's form. */
export interface View {
  readonly tone: "waiting" | "working" | "attention" | "good" | "bad" | "plain";
  readonly headline: Text;
  /** Plain text of other people (a prompt, a title), shown as a quotation. */
  readonly quote?: string;
  /** The agent's answer: Markdown, not trusted. */
  readonly answer?: string;
  readonly details: readonly Text[];
  readonly actions: readonly Action[];
}
