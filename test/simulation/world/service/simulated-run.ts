/** A run of the simulated service, and the errors of calls about it. */
import type { CreateRequest, Run } from "#core/run.ts";
import type { ApiFault } from "#ports.ts";
import type { Random } from "#test/simulation/story/random.ts";
import type { Doubt } from "#test/simulation/world/machine.ts";

/** An error of the API's client. */
export class Refused extends Error implements ApiFault {
  readonly certainty: ApiFault["certainty"];
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  constructor(fault: Partial<ApiFault> & { readonly reason: string }) {
    super(fault.reason);
    this.certainty = fault.certainty ?? "refused";
    this.retryable = fault.retryable ?? false;
    this.status = fault.status;
    this.code = fault.code;
    this.reason = fault.reason;
    this.retryAfterMs = fault.retryAfterMs;
  }
}

export interface SimulatedRun {
  readonly id: string;
  readonly request: Partial<CreateRequest> & { readonly prompt: string };
  readonly name: string | null;
  /** All its states, oldest first, each with the true time of its change. */
  readonly words: { readonly at: number; readonly run: Run; readonly episode: number | null }[];
  /** `writtenAt`: true time. */
  readonly conversation: {
    readonly role: string;
    readonly text: string;
    readonly at: string;
    readonly writtenAt: number;
  }[];
  /** Follow-ups in the order in which they arrived. */
  readonly followUps: string[];
  /** Ends and BLOCKEDs, in order. */
  readonly episodes: string[];
  /** The agent's answer at the end of each episode. */
  readonly answers: string[];
  /** Episodes that the bot fetched just before a follow-up that arrived. */
  readonly found: Set<number>;
  readonly cancellable: boolean;
  /** True times of the accepted cancellations. */
  readonly cancels: number[];
  refusesCancel: boolean;
  /** The request that made it; null: it was made elsewhere. */
  readonly doubt: Doubt | null;
  /** The episode that the last fetch showed, and to which process. */
  fetched: { readonly life: number; readonly episode: number | null } | null;
  begun: boolean;
  /** The random stream of its life. */
  readonly random: Random;
  /** Cancels the next step of its life. */
  callOff: () => void;
}

export const wordOn = (run: SimulatedRun): Run => {
  const last = run.words.at(-1);
  if (last === undefined) throw new Error(`${run.id} has no state`);
  return last.run;
};

/** A link that identifies the `n`th end or BLOCKED of a run. */
export const episodeLink = (runId: string, episode: number): string =>
  `https://runs.example/${runId}/episode-${episode}`;
export const answerMark = (runId: string, episode: number): string =>
  `answer of ${runId} episode-${episode}.`;

const final = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

/** True for a state that only a follow-up can change. */
export const isOver = (state: string): boolean => final.has(state);

/** True if the run continues only after a person acts. `PAUSED` is a state that the bot does not know. */
export const isWaiting = (state: string): boolean => state === "BLOCKED" || state === "PAUSED";
