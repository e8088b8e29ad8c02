import type { Person, Scope } from "./event.ts";
import { platformOf } from "./event.ts";

/** Defaults of a dispatch; a flag of the command wins over them. */
export interface DispatchDefaults {
  readonly model?: string;
  readonly environment?: string;
  readonly skill?: string;
  readonly factory?: string;
  readonly basePrompt?: string;
  /** Names from `Rules.mcpServers`. */
  readonly mcp?: readonly string[];
}

/** Everything about deciding that an installation can set. */
export interface Rules {
  /** Config name that marks our runs. */
  readonly runName: string;
  readonly defaults: DispatchDefaults;
  /** Per scope: `slack:C0123` or `slack:T1:C0123`, and `github:owner/repo`, case-insensitive. */
  readonly scopes: Readonly<Record<string, DispatchDefaults>>;
  /** Labels that dispatch, case-insensitive, with their defaults. */
  readonly labels: Readonly<Record<string, DispatchDefaults>>;
  readonly mcpServers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Whether a reply without a mention steers the run. */
  readonly replies: "all" | "mention";
  /** Absent: everyone. Ids of people and scopes that may dispatch, steer and cancel; both must match. */
  readonly allow: Readonly<
    Record<string, { readonly people?: readonly string[]; readonly scopes?: readonly Scope[] }>
  >;
  /** A retryable refusal is retried for so long, then told. */
  readonly retryForMs: number;
}
