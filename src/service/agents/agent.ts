import type { McpServerConfig } from "#agent-runs/schema.ts";

/** A turn's input and surroundings. */
export interface Turn {
  readonly runId: string;
  /** 1 is the first. */
  readonly number: number;
  /** The run's own existing folder, kept for later turns. */
  readonly folder: string;
  /** Base prompt, conversation so far and new messages. */
  readonly input: string;
  /** The new messages alone, oldest first. */
  readonly words: readonly string[];
  readonly model: string | null;
  readonly skill: string | null;
  readonly environmentId: string | null;
  /** The path of a file with the run's MCP servers (`{"mcpServers": {…}}`); null if it has none. */
  readonly mcpFile: string | null;
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** The path prefix, outside of the run's folder, for further files that its command needs. */
  readonly ownFiles: string;
  /** The folder of the request's files; null if there are none. */
  readonly attachmentsFolder: string | null;
  /** The existing folder for files that the run shows as artifacts. */
  readonly artifactsFolder: string;
  /** The variables that the environment declares. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The end of a turn. `broken`: the agent could not be started. `aborted`: the signal ended it. `answer`: its final
 * answer; absent: the whole output.
 */
export type TurnEnd =
  | { readonly kind: "finished"; readonly answer?: string }
  | { readonly kind: "failed"; readonly reason: string; readonly answer?: string }
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "aborted" };

/**
 * The last line of an agent's output when it needs a person's answer. The text before it is the question; the
 * line itself is not shown.
 */
export const blockedLine = "AGENT_BLOCKED";

/** A program that works on turns. */
export interface Agent {
  /** Called before the first turn, while the run is still QUEUED. */
  prepare?(signal: AbortSignal): Promise<void>;
  /**
   * Works on one turn and passes its output on piece by piece. Resolves when everything it started has ended,
   * soon after `signal` is aborted at the latest. Rejects only on a defect.
   */
  work(turn: Turn, signal: AbortSignal, write: (text: string) => void): Promise<TurnEnd>;
}

/** Splits an agent's output into its text and whether it asks a question. */
export function answerOf(output: string): { readonly text: string; readonly asks: boolean } {
  const text = output.trim();
  const asks = text === blockedLine || text.endsWith(`\n${blockedLine}`);
  return asks ? { text: text.slice(0, -blockedLine.length).trim(), asks } : { text, asks };
}
