/** One text of a run's conversation. */
export interface TranscriptMessage {
  /** `user`, `assistant`, or another role. */
  readonly role: string;
  readonly text: string;
  /** RFC 3339, by the API's clock; absent where the API gives no time. */
  readonly at?: string;
}

/**
 * Returns the last non-blank answer of the turn that ended at `endedAt`, or null. An answer from before `reportedAt`,
 * the end reported before it, belongs to an earlier turn. Both are RFC 3339, by the API's clock.
 */
export function answerOf(
  messages: readonly TranscriptMessage[],
  endedAt: string,
  reportedAt?: string,
): string | null {
  const said = untilEnd(messages, endedAt);
  const last = said.findLastIndex(({ role }) => role === "assistant");
  // A turn that was cancelled before the agent wrote has no answer; the last text belongs to an earlier turn.
  const isUnanswered = said.some(
    ({ role, at }, index) => role === "user" && index > last && isLater(at, said[last]?.at),
  );
  if (isUnanswered) return null;
  const asked = said.findLastIndex(({ role }, index) => role === "user" && index < last);
  const turn = said.slice(asked + 1, last + 1);
  const answer = turn.findLast(({ role, text }) => role === "assistant" && text.trim() !== "");
  const isOfEarlierTurn =
    isLater(endedAt, reportedAt) &&
    !isLater(said[asked]?.at, reportedAt) &&
    Date.parse(answer?.at ?? "") <= latestOf(reportedAt ?? "") + lateAnswerMs;
  return isOfEarlierTurn ? null : (answer?.text ?? null);
}

/** An answer may be stored so much later than the end of its run. */
const lateAnswerMs = 500;

/** Returns the latest time, in ms, that this one may stand for: some services round times to whole seconds. */
function latestOf(time: string): number {
  const ms = Date.parse(time);
  return ms % 1_000 === 0 ? ms + 999 : ms;
}

/**
 * Drops turns after the end, since an end may be read late: those that follow-ups began after it, and those of
 * follow-ups from before it that were answered after it.
 */
function untilEnd(messages: readonly TranscriptMessage[], endedAt: string): readonly TranscriptMessage[] {
  const endMs = latestOf(endedAt);
  const isLate = (message: TranscriptMessage | undefined, byMs: number): boolean =>
    Date.parse(message?.at ?? "") > endMs + byMs;
  const next = messages.findIndex((message, index) => {
    if (index === 0 || message.role !== "user") return false;
    const answer = messages.slice(index + 1).find(({ role }) => role === "assistant");
    return isLate(message, 0) || isLate(answer, lateAnswerMs);
  });
  const before = messages.slice(0, Math.max(next, 0));
  // Later times before it, or earlier ones after late ones: the API's clock was set back, so its times don't say
  // what came first.
  const firstLate = messages.findIndex((message) => isLate(message, lateAnswerMs));
  const isSetBack =
    before.some((message) => isLate(message, lateAnswerMs)) ||
    (firstLate >= 0 && messages.slice(firstLate).some(({ at }) => Date.parse(at ?? "") <= endMs));
  return next < 0 || isSetBack ? messages : before;
}

/** False if either time is absent. */
const isLater = (at: string | undefined, than: string | undefined): boolean =>
  Date.parse(at ?? "") > Date.parse(than ?? "");
