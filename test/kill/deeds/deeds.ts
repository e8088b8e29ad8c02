/** Records people's actions and the responses, which the judge compares with the visible results. */
import type { Random } from "#test/simulation/story/random.ts";

/**
 * The expected result of a deed that is taken in. `answer`: a message to a person. `nothing`: it does not concern
 * the bot, or the person has no permission.
 */
export type Intent = "run" | "follow-up" | "cancel" | "retry" | "answer" | "nothing";

export interface Deed {
  readonly number: number;
  readonly kind: string;
  readonly platform: "slack" | "github";
  readonly by: string;
  readonly permitted: boolean;
  readonly intent: Intent;
  /** Unique to this deed. */
  readonly word: string;
  /** The dispatch or the place that a cancel, a retry or a follow-up is for. */
  readonly target: string | null;
  /** The event's id, once it is known. */
  event: string | null;
  /** Null: it has no place. */
  place: string | null;
  readonly sentAt: number;
  /** When the bot's 200 arrived; null: never. */
  ackedAt: number | null;
  /** The status of each delivery; 0 for no answer. */
  statuses: number[];
}

export type Doing = Pick<Deed, "kind" | "platform" | "by" | "intent"> &
  Partial<Pick<Deed, "target" | "permitted">>;

const behaviours = { quick: 8, short: 5, slow: 4, fail: 2, ask: 1, pull: 1 };

export interface Deeds {
  readonly all: readonly Deed[];
  /** Records a deed before a person does it. */
  begin(doing: Doing): Deed;
  /** Records the statuses of the deliveries. */
  met(deed: Deed, statuses: readonly number[]): void;
  /** Resolves at the bot's next 200. */
  nextAck(): Promise<void>;
  /** A prompt for the test agent, which obeys the words after `do:`. */
  words(deed: Deed): string;
}

export function createDeeds(random: Random): Deeds {
  const all: Deed[] = [];
  let next = Promise.withResolvers<void>();
  return {
    all,
    nextAck: () => next.promise,
    begin(doing) {
      const number = all.length + 1;
      const deed: Deed = {
        permitted: doing.by !== "mallory",
        target: null,
        ...doing,
        number,
        word: `w${String(number).padStart(5, "0")}`,
        event: null,
        place: null,
        sentAt: performance.now(),
        ackedAt: null,
        statuses: [],
      };
      all.push(deed);
      return deed;
    },
    met(deed, statuses) {
      deed.statuses.push(...statuses);
      if (!statuses.includes(200)) return;
      deed.ackedAt ??= performance.now();
      next.resolve();
      next = Promise.withResolvers();
    },
    words: (deed) => `look into ${deed.word}, do:${random.weighted(behaviours)}`,
  };
}
