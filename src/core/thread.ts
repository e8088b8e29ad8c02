import type { Effect } from "./effect.ts";
import type { PersonEvent } from "./event.ts";
import type { Person } from "./person.ts";
import {
  type DispatchId,
  type EffectId,
  type EventId,
  type MessageId,
  type Place,
  type Ref,
  type RunId,
  runRef,
  type Scope,
} from "./place.ts";
import { type CreateRequest, isEnded, type Run } from "./run.ts";

/** One run of a thread, from its dispatch on. */
export interface RunRecord {
  readonly dispatch: DispatchId;
  /** null until the API has created the run. */
  readonly runId: RunId | null;
  /** Config name under which sweeps list it; null if unknown: it is fetched by id. */
  readonly name: string | null;
  readonly by: Person;
  /** The beginning of the request, for people. */
  readonly asked: string;
  /** The place is locked, so its card may be refused; no run starts without a card. */
  readonly locked?: true;
  /** The platform's address for a private reply to the requester, if it gave one. */
  readonly answerVia?: string;
  /** The request to the API, without the reference line. null: attached, or too old for a retry. */
  readonly request: CreateRequest | null;
  /** Name or uid of the factory that gets the prompt. */
  readonly factory?: string;
  /** Time of the request by our clock, RFC 3339. */
  readonly since: string;
  /** The same by the platform's clock: earlier messages of the place are no follow-ups. null: it had no place. */
  readonly askedAt: string | null;
  /** Still followed: its end is not final, or not reported yet. */
  readonly open: boolean;
  /** The latest snapshot from the API; null before the first. */
  readonly run: Omit<Run, "prompt"> | null;
  /** Identities of the snapshots before it, oldest first, see `identityOf`; absent in documents of earlier versions. */
  readonly passed?: readonly string[];
  /** The last reported end or BLOCKED, also while the run is at work again, with the run's `updated_at` at that time. */
  readonly told: {
    readonly state: string;
    readonly updatedAt: string;
  } | null;
  /** A follow-up was accepted since: the same state with a later `updated_at` is reported again. */
  readonly reopened: boolean;
  /** Number of follow-ups that the API has accepted; absent in documents of earlier versions. */
  readonly followUps?: number;
  /** The last of them: an answer from before it is not the answer to it. */
  readonly lastFollowUp?: EffectId;
  /** Number of messages of its conversation that belong to the ends reported so far; absent before the first. */
  readonly answered?: number;
  /** `updated_at` of the last reported end or BLOCKED if it was reported without an answer. */
  readonly silentAt?: string | null;
  /** Deadline after which an end or BLOCKED from around the last follow-up is final, RFC 3339; see `settlesInMs`. */
  readonly settlesAt?: string | null;
  /** The reason for a delay, for people. */
  readonly delay: string | null;
  readonly cancelling: boolean;
  /** The last person who cancelled it. */
  readonly cancelledBy?: Person;
  /** The reason why it will never start, for people. */
  readonly failed: string | null;
  /** The card in each place; null while it is being posted. */
  readonly cards: Readonly<Record<Place, MessageId | null>>;
}

/** One conversation: everything that decisions depend on, saved in one write. */
export interface Thread {
  readonly version: 1;
  /** The ref that it began under. */
  readonly id: Ref;
  readonly scope: Scope;
  readonly places: readonly Place[];
  /** The other names of its places, each with the name in `places`; the latest is the present one. */
  readonly aliases?: Readonly<Record<Place, Place>>;
  readonly runs: readonly RunRecord[];
  /** Number of effects decided so far; makes their ids unique. */
  readonly decided: number;
  /** Pending effects, in the order of their decisions. */
  readonly effects: readonly Effect[];
  /** Events, in order, that wait for their author's permission or for a run that is being attached. */
  readonly waiting: readonly PersonEvent[];
  /** Ids of the events that took effect, oldest first. */
  readonly seen: readonly EventId[];
  /** Keys of messages that are sent only once, such as a refusal to one person. */
  readonly said: readonly string[];
  /** Replies without a mention are ignored. */
  readonly muted: boolean;
  /** Time of the last `unmute` by the platform's clock: earlier replies stay ignored. */
  readonly mutedUntil: string | null;
  /** RFC 3339. */
  readonly changedAt: string;
}

/** Initial state of a run's record. */
export const newRun = {
  runId: null,
  open: true,
  run: null,
  told: null,
  passed: [],
  reopened: false,
  followUps: 0,
  answered: 0,
  silentAt: null,
  settlesAt: null,
  cancelling: false,
  failed: null,
  delay: null,
} as const satisfies Partial<RunRecord>;

/** Returns true if nothing is pending: no effect, no waiting event, no open run. */
export const isSettled = (thread: Thread): boolean =>
  thread.effects.length === 0 && thread.waiting.length === 0 && !thread.runs.some((run) => run.open);

/** Returns true if a follow-up to the dispatch's run is pending. */
export const hasFollowUp = ({ effects }: Pick<Thread, "effects">, dispatch: DispatchId): boolean =>
  effects.some((effect) => effect.kind === "follow-up" && effect.dispatch === dispatch);

/** Returns true from the request until the run ends or fails to start, and again after a follow-up. */
export const isAtWork = ({ failed, open, run, reopened }: RunRecord): boolean =>
  failed === null && open && (run === null || !isEnded(run.state) || reopened);

/** Returns the run meant by a command without an id: the latest at work, else the latest that started. */
export const currentRun = ({ runs }: Pick<Thread, "runs">): RunRecord | undefined =>
  runs.findLast(isAtWork) ?? runs.findLast((record) => record.failed === null) ?? runs.at(-1);

/** Returns the refs of the thread, without its id. */
export const refsOf = (thread: Thread): readonly Ref[] => [
  ...thread.places,
  ...Object.keys(thread.aliases ?? {}),
  ...thread.runs.flatMap((run) => (run.runId === null ? [] : [runRef(run.runId)])),
];
