/** One run as the simulated service keeps it, and what a call about it may be answered. */
import type { CreateRequest, Run } from "#core/run.ts";
import type { ApiFault } from "#ports.ts";
import type { Random } from "#test/simulation/story/random.ts";

/** Rejections of the API's client. */
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
  /** Every word on it, oldest first, with the true time at which it became so. */
  readonly words: { readonly at: number; readonly run: Run }[];
  readonly conversation: { readonly role: string; readonly text: string; readonly at: string }[];
  /** Follow-ups in the order in which they arrived. */
  readonly followUps: string[];
  /** Ends and BLOCKEDs, in order. */
  readonly episodes: string[];
  /** What the agent said at the end of each. */
  readonly answers: string[];
  readonly cancellable: boolean;
  cancels: number;
  begun: boolean;
  /** What its life comes out of. */
  readonly random: Random;
  /** The next step of its life. */
  callOff: () => void;
}

export const wordOn = (run: SimulatedRun): Run => {
  const last = run.words.at(-1);
  if (last === undefined) throw new Error(`${run.id} has no state`);
  return last.run;
};

/** What marks the `n`th end or BLOCKED of a run, wherever it is told. */
export const episodeLink = (runId: string, episode: number): string =>
  `https://runs.example/${runId}/episode-${episode}`;
export const answerMark = (runId: string, episode: number): string =>
  `answer of ${runId} episode-${episode}.`;

/** Without people nothing more happens; `PAUSED` is a state that the bot has never heard of. */
export const isWaiting = (state: string): boolean => state === "BLOCKED" || state === "PAUSED";
