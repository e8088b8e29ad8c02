import type { McpServerConfig } from "#agent-runs/schema.ts";

/** One turn: what the agent is given. */
export interface Turn {
  readonly runId: string;
  /** 1 is the first. */
  readonly number: number;
  /** Made for the run and kept for its later turns; it exists. */
  readonly folder: string;
  /** Everything the agent needs to read: base prompt, conversation so far, the new words. */
  readonly input: string;
  /** The new words alone, oldest first. */
  readonly words: readonly string[];
  readonly model: string | null;
  readonly skill: string | null;
  readonly environmentId: string | null;
  /** Path of a file with the run's MCP servers (`{"mcpServers": {…}}`); null if it has none. */
  readonly mcpFile: string | null;
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** What the paths of files that are made for this run's command begin with; they are outside its folder. */
  readonly ownFiles: string;
  /** Where the files are that came with the request; null if there are none. */
  readonly attachmentsFolder: string | null;
  /** Files that the agent leaves here are shown with the run; it exists. */
  readonly artifactsFolder: string;
  /** What the environment declares for its commands. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * `broken`: it could not be started. `aborted`: it was ended by the signal. `answer`: what it has to say in the
 * end; absent: all that it wrote.
 */
export type TurnEnd =
  | { readonly kind: "finished"; readonly answer?: string }
  | { readonly kind: "failed"; readonly reason: string; readonly answer?: string }
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "aborted" };

/**
 * The last line of what an agent writes when it needs a person's answer to go on; the text before it is the
 * question. The line itself is not shown.
 */
export const blockedLine = "AGENT_BLOCKED";

export interface Agent {
  /** Before the first turn after being queued, while the run is still QUEUED. */
  prepare?(signal: AbortSignal): Promise<void>;
  /**
   * Works one turn through, telling what it writes piece by piece. Resolves when everything it started has
   * ended; soon after `signal` is aborted in any case. Rejects only for a defect.
   */
  work(turn: Turn, signal: AbortSignal, write: (text: string) => void): Promise<TurnEnd>;
}

/** What the agent wrote, and whether it asks. */
export function answerOf(output: string): { readonly text: string; readonly asks: boolean } {
  const text = output.trim();
  const asks = text === blockedLine || text.endsWith(`\n${blockedLine}`);
  return asks ? { text: text.slice(0, -blockedLine.length).trim(), asks } : { text, asks };
}
