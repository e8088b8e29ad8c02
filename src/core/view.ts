import type { Person } from "./person.ts";
import type { DispatchId } from "./place.ts";

/** A piece of a sentence. A string is plain text, which the adapter escapes. */
export type Span =
  | string
  | { readonly strong: string }
  | { readonly code: string }
  | { readonly person: Person }
  | { readonly link: string; readonly label: string };
/** A sentence in pieces. */
export type Text = readonly Span[];

/** A button. */
export interface Action {
  readonly action: "cancel" | "retry";
  readonly label: string;
  readonly dispatch: DispatchId;
}

/** A message to people, which an adapter renders for its platform. */
export interface View {
  readonly tone: "waiting" | "working" | "attention" | "good" | "bad" | "plain";
  readonly headline: Text;
  /** Plain text by others (a prompt, a title), shown as a quotation. */
  readonly quote?: string;
  /** The agent's answer: untrusted Markdown. */
  readonly answer?: string;
  readonly details: readonly Text[];
  readonly actions: readonly Action[];
}
