import type { Person } from "./person.ts";
import { platformOf, type Scope } from "./place.ts";

/** Defaults of a dispatch; flags override them. */
export interface DispatchDefaults {
  readonly model?: string;
  readonly environment?: string;
  readonly skill?: string;
  readonly factory?: string;
  readonly basePrompt?: string;
  /** Names from `Rules.mcpServers`. */
  readonly mcp?: readonly string[];
}

/** Properties of a platform that decisions depend on. */
export interface PlatformFacts {
  /** Whether its places carry labels that show a run's state. */
  readonly hasStateLabels: boolean;
  /**
   * How long the news that a run was created or queued is held back in its places, in milliseconds: the run usually
   * begins meanwhile, and one write then shows both. Absent: not at all.
   */
  readonly holdMs?: number;
  /** Lines of the help that say how to give commands there; backticks mark code. */
  readonly help: readonly string[];
}

/** The settings that decisions depend on. */
export interface Rules {
  /** Config name of the bot's runs. */
  readonly runName: string;
  readonly defaults: DispatchDefaults;
  /** Per scope: `slack:C0123` or `slack:T1:C0123`, and `github:owner/repo`, case-insensitive. */
  readonly scopes: Readonly<Record<string, DispatchDefaults>>;
  /** Labels that dispatch, case-insensitive, with their defaults. */
  readonly labels: Readonly<Record<string, DispatchDefaults>>;
  readonly mcpServers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Whether a reply without a mention steers the run. */
  readonly replies: "all" | "mention";
  /** By platform: the people and scopes that may dispatch, steer and cancel (both must match); absent: all. */
  readonly allow: Readonly<
    Record<string, { readonly people?: readonly string[]; readonly scopes?: readonly Scope[] }>
  >;
  /** How long a retryable failure is retried. */
  readonly retryForMs: number;
  /** By the platform's name. */
  readonly platforms: Readonly<Record<string, PlatformFacts>>;
}

/** The reason why a person may not use the bot. */
export type Refusal = "unlisted" | "not-here" | "no-write-access" | "not-a-member";

/** Result of `verdict`. */
export type Verdict =
  | { readonly kind: "yes" }
  /** The platform must first be asked for the person's permission. */
  | { readonly kind: "ask" }
  | { readonly kind: "no"; readonly refusal: Refusal }
  /** The author is a bot and gets no reply, so that two bots never talk to each other. */
  | { readonly kind: "bot" };

/** Decides whether the person may dispatch, steer and cancel in the scope (promise 8). */
export function verdict(rules: Rules, by: Person, scope: Scope): Verdict {
  if (by.bot) return { kind: "bot" };
  const allow = rules.allow[by.platform];
  if (allow?.people && !allow.people.some((id) => sameId(id, by.id))) {
    return { kind: "no", refusal: "unlisted" };
  }
  if (allow?.scopes && !allow.scopes.some((listed) => namesOf(scope).includes(listed.toLowerCase()))) {
    return { kind: "no", refusal: "not-here" };
  }
  switch (by.permission) {
    case undefined:
    case "write":
      return { kind: "yes" };
    case "unknown":
      return { kind: "ask" };
    case "read":
      return { kind: "no", refusal: "no-write-access" };
    case "none":
      return { kind: "no", refusal: "not-a-member" };
    default:
      return by.permission satisfies never;
  }
}

const sameId = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The scope's names in a configuration: all of it, or the platform and the last part. */
function namesOf(scope: Scope): readonly string[] {
  const whole = scope.toLowerCase();
  return [whole, `${platformOf(whole)}:${whole.slice(whole.lastIndexOf(":") + 1)}`];
}

/** Returns the defaults of a dispatch: the label's override the scope's, which override the general ones. */
export function defaultsFor(rules: Rules, scope: Scope, label: string | null): DispatchDefaults {
  const names = namesOf(scope);
  const ofScope = Object.entries(rules.scopes).find(([name]) => names.includes(name.toLowerCase()))?.[1];
  const ofLabel = label === null ? undefined : labelDefaults(rules, label);
  return { ...rules.defaults, ...ofScope, ...ofLabel };
}

/** Returns the label's defaults; undefined if the label does not dispatch. */
export const labelDefaults = (rules: Rules, label: string): DispatchDefaults | undefined =>
  Object.entries(rules.labels).find(([name]) => sameId(name, label))?.[1];
