import type { Effect } from "./effect.ts";
import type { PersonEvent } from "./event.ts";
import type { Person } from "./person.ts";
import {
  type DispatchId,
  type EventId,
  type MessageId,
  type Place,
  type Ref,
  type RunId,
  runRef,
  type Scope,
} from "./place.ts";
import { type CreateRequest, isEnded, type Run } from "./run.ts";

/** One run of a thread, from the dispatch on. */
export interface RunRecord {
  readonly dispatch: DispatchId;
  /** null until the API has made the run. */
  readonly runId: RunId | null;
  /** Config name under which sweeps find it; null: unknown, it is fetched singly. */
  readonly name: string | null;
  readonly by: Person;
  /** The beginning of the request, as people are shown it. */
  readonly asked: string;
  /** The place is locked: without a card there, its people would not be told of the run. */
  readonly locked?: true;
  /** A private way to whoever asked, if the platform gave one. */
  readonly answerVia?: string;
  /** The request to the API; its prompt lacks the reference line. null: attached, or too old to be retried. */
  readonly request: CreateRequest | null;
  /** Name or uid of the factory that the prompt goes to instead. */
  readonly factory?: string;
  /** When it was asked for, RFC 3339. */
  readonly since: string;
  /**
   * The same by the platform's clock: what was said in the place before belongs to the prompt, however late it
   * is delivered. null: it had no place yet.
   */
  readonly askedAt: string | null;
  /** Unfinished as far as we know: swept, and its end still to be told. */
  readonly open: boolean;
  /** The API's last word on it; null before the first. */
  readonly run: Omit<Run, "prompt"> | null;
  /** The end or the BLOCKED that was told last, with the run's `updated_at` then. */
  readonly told: {
    readonly state: string;
    readonly updatedAt: string;
    /** The answer told with it, as `gistOf` has it. */
    readonly gist?: string;
  } | null;
  /** A follow-up was taken since: the same state with a later `updated_at` is told again. */
  readonly reopened: boolean;
  /** How many follow-ups the API has taken; absent in documents from before they were counted. */
  readonly followUps?: number;
  /** When an end or BLOCKED that may predate the last follow-up is final, RFC 3339; see `settlesInMs`. */
  readonly settlesAt?: string | null;
  /** Why it has to wait, as people are shown it. */
  readonly delay: string | null;
  readonly cancelling: boolean;
  /** Who asked last for that. */
  readonly cancelledBy?: Person;
  /** Why there will never be a run. */
  readonly failed: string | null;
  /** The card in each place; null while it is being posted. */
  readonly cards: Readonly<Record<Place, MessageId | null>>;
}

/** Our record of one conversation. It holds all that decisions depend on; one write changes all of it. */
export interface Thread {
  readonly version: 1;
  /** The ref that it began with. */
  readonly id: Ref;
  readonly scope: Scope;
  readonly places: readonly Place[];
  readonly runs: readonly RunRecord[];
  /** Number of effects that were ever decided; makes their ids unique. */
  readonly decided: number;
  /** Effects still to perform, in the order they were decided. */
  readonly effects: readonly Effect[];
  /** Events that wait, in order, until their author's permission is known. */
  readonly waiting: readonly PersonEvent[];
  /** Ids of the events that took effect, oldest first. */
  readonly seen: readonly EventId[];
  /** Keys of what was said and is said only once, such as a refusal to one person. */
  readonly said: readonly string[];
  /** Replies without a mention are ignored. */
  readonly muted: boolean;
  /** When it was last unmuted, by the platform's clock: earlier replies stay ignored. */
  readonly mutedUntil: string | null;
  /** RFC 3339. */
  readonly changedAt: string;
}

/** The state of a run that was only just asked for. */
export const newRun = {
  runId: null,
  open: true,
  run: null,
  told: null,
  reopened: false,
  followUps: 0,
  settlesAt: null,
  cancelling: false,
  failed: null,
  delay: null,
} as const satisfies Partial<RunRecord>;

/** Nothing to perform, nobody waiting, no unfinished run. */
export const isSettled = (thread: Thread): boolean =>
  thread.effects.length === 0 && thread.waiting.length === 0 && !thread.runs.some((run) => run.open);

/** A follow-up is on its way to the dispatch's run. */
export const hasFollowUp = ({ effects }: Pick<Thread, "effects">, dispatch: DispatchId): boolean =>
  effects.some((effect) => effect.kind === "follow-up" && effect.dispatch === dispatch);

/** The API makes it, works on it, or waits for an answer. */
export const isAtWork = ({ failed, open, run, reopened }: RunRecord): boolean =>
  failed === null && open && (run === null || !isEnded(run.state) || reopened);

/** The run that people mean when they name none: the latest at work, else the latest. */
export const currentRun = ({ runs }: Pick<Thread, "runs">): RunRecord | undefined =>
  runs.findLast(isAtWork) ?? runs.findLast((record) => record.failed === null) ?? runs.at(-1);

/** Every ref that leads to the thread, besides its id. */
export const refsOf = (thread: Thread): readonly Ref[] => [
  ...thread.places,
  ...thread.runs.flatMap((run) => (run.runId === null ? [] : [runRef(run.runId)])),
];
