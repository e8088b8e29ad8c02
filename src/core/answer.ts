/** One text of a run's conversation. */
export interface TranscriptMessage {
  /** `user`, `assistant`, or another role. */
  readonly role: string;
  readonly text: string;
  /** RFC 3339, by the API's clock; absent where the API gives no time. */
  readonly at?: string;
}

/** What tells an end's messages from those of the ends before and after it. */
export interface TurnBounds {
  /** Time of the end, RFC 3339, by the API's clock. */
  readonly endedAt: string;
  /** Number of messages that belong to the ends that were reported before. */
  readonly answered?: number | undefined;
  /** Time of the last of them if it was reported without an answer: that may have appeared late. RFC 3339. */
  readonly silentAt?: string | null | undefined;
  /** Returns true for a person's message that was sent after the end was seen. */
  readonly isLater?: (text: string) => boolean;
  /** Whether the run was still in this end after the conversation was read; counts only where times are not in order. */
  readonly isCurrent?: boolean;
}

export interface Answer {
  /** null: nothing of the turn's answer is shown. Empty: the agent has only acted, or is shown so far. */
  readonly text: string | null;
  /** Number of messages up to the answer or, without one, up to the turn's end as far as it is shown. */
  readonly answered: number;
}

/**
 * Returns whether the times of the agent's texts tell which belong to an end after the first `answered` messages: no later
 * text is older than the one before it. A person's message may be, since one that is sent during a turn waits for the
 * next. If earlier ones were so more than once, the API's clock jitters.
 */
export function areTimesInOrder(messages: readonly TranscriptMessage[], answered: number): boolean {
  const texts = messages.flatMap(({ role, at }, index) => (role === "assistant" ? [{ at, index }] : []));
  const steps = texts.filter(({ at }, next) => isAfter(at, texts[next + 1]?.at));
  return steps.length <= 1 && steps.every(({ index }) => index < answered);
}

/** Returns the last non-blank answer of the turn. Order goes before times, since the API's clock may be set. */
export function answerOf(
  messages: readonly TranscriptMessage[],
  { endedAt, answered = 0, silentAt, isLater = () => false, isCurrent = false }: TurnBounds,
): Answer {
  const later = messages.findIndex(
    ({ role, text }, at) => at >= answered && role === "user" && isLater(text),
  );
  const known = later < 0 ? messages : messages.slice(0, later);
  const said = areTimesInOrder(messages, answered)
    ? untilEnd(known, answered, endedAt)
    : isCurrent
      ? known
      : firstTurn(known, answered);
  const last = said.findLastIndex(({ role }) => role === "assistant");
  // A turn that was cancelled before the agent wrote has no answer; the last text belongs to an earlier turn.
  const isUnanswered = said.some(
    ({ role, at }, index) => role === "user" && index > last && isAfter(at, said[last]?.at),
  );
  const asked = said.findLastIndex(({ role }, index) => role === "user" && index < last);
  const begun = said.findLastIndex(({ role }, index) => role === "assistant" && index < asked) + 1;
  // The prompt, and what a report covered, came before that report.
  const isBegunBefore = begun < Math.max(answered, 1) || !isAfter(said[begun]?.at, silentAt);
  const lastMs = Date.parse(said[last]?.at ?? "");
  const isOfSilentEnd =
    silentAt != null &&
    // A message that is later than its end is from before the clock was set back.
    (!isAfter(silentAt, endedAt) || lastMs > latestOf(endedAt) + lateAnswerMs) &&
    isBegunBefore &&
    lastMs <= latestOf(silentAt) + lateAnswerMs;
  const covered = Math.max(answered, said.length);
  if (last < answered || isUnanswered || isOfSilentEnd) return { text: null, answered: covered };
  const found = said.findLastIndex(({ role, text }) => role === "assistant" && text.trim() !== "");
  const isOwn = found > asked && found >= answered;
  return isOwn ? { text: said[found]?.text ?? null, answered: last + 1 } : { text: "", answered: covered };
}

/** An answer may be stored so much later than the end of its run. */
const lateAnswerMs = 500;

/** Returns the latest time, in ms, that this one may stand for: some services round times to whole seconds. */
function latestOf(time: string): number {
  const ms = Date.parse(time);
  return ms % 1_000 === 0 ? ms + 999 : ms;
}

/** Returns the messages before the first unreported one that is later than this end, where times are in order. */
export function saidUntil(
  messages: readonly TranscriptMessage[],
  endedAt: string,
  answered: number,
): readonly TranscriptMessage[] {
  const latestMs = latestOf(endedAt) + lateAnswerMs;
  const later = messages.findIndex(
    ({ role, at }, index) => index >= answered && role === "assistant" && Date.parse(at ?? "") > latestMs,
  );
  return later < 0 ? messages : messages.slice(0, later);
}

/**
 * Returns the answer, which may be blank, of an end that was not seen before the end of a later turn was reported; null if
 * there is none at its time. `answered`: number of messages up to that later answer.
 */
export function missedAnswer(
  messages: readonly TranscriptMessage[],
  endedAt: string,
  answered: number,
): string | null {
  const texts = messages.slice(0, answered).filter(({ role }) => role === "assistant");
  const endMs = Date.parse(endedAt);
  // Otherwise the last of them may be its own, and was reported.
  if (!(Date.parse(texts.at(-1)?.at ?? "") > endMs + lateAnswerMs)) return null;
  const own = texts.findLast(({ at }) => Math.abs(Date.parse(at ?? "") - endMs) <= lateAnswerMs);
  return own?.text ?? null;
}

/** Returns the messages up to the answer of the first turn that is not reported yet. */
function firstTurn(messages: readonly TranscriptMessage[], answered: number): readonly TranscriptMessage[] {
  const next = messages.findIndex(
    ({ role }, index) =>
      role === "user" && messages.slice(answered, index).some((before) => before.role === "assistant"),
  );
  return next < 0 ? messages : messages.slice(0, next);
}

/**
 * Drops turns after the end, since an end may be read late: those that follow-ups began after it, and those of
 * follow-ups from before it that were answered after it. Of the first turn that is not reported yet, only what was
 * both asked and answered after the end is dropped.
 */
function untilEnd(
  messages: readonly TranscriptMessage[],
  answered: number,
  endedAt: string,
): readonly TranscriptMessage[] {
  const endMs = latestOf(endedAt);
  const isLate = (message: TranscriptMessage | undefined, byMs: number): boolean =>
    Date.parse(message?.at ?? "") > endMs + byMs;
  const next = messages.findIndex((message, index) => {
    if (index <= answered || message.role !== "user") return false;
    const answer = messages.slice(index + 1).find(({ role }) => role === "assistant");
    // Of a turn in which the clock was set back, the answer's time counts.
    const isBegunLate = isLate(message, 0) && !isAfter(message.at, answer?.at);
    const isOfFirst = !messages.slice(answered, index).some(({ role }) => role === "assistant");
    const isAnsweredLate = isLate(answer, lateAnswerMs);
    return isOfFirst ? isBegunLate && isAnsweredLate : isBegunLate || isAnsweredLate;
  });
  return next < 0 ? messages : messages.slice(0, next);
}

/** False if either time is absent. */
const isAfter = (at: string | undefined, than: string | null | undefined): boolean =>
  Date.parse(at ?? "") > Date.parse(than ?? "");
