/** One text of a run's conversation. */
export interface TranscriptMessage {
  /** `user`, `assistant`, or another role. */
  readonly role: string;
  readonly text: string;
  /** RFC 3339, by the API's clock; absent where the API gives no time. */
  readonly at?: string;
}

/** Returns the last non-blank answer of the turn that ended at `endedAt` (RFC 3339, API clock), or null. */
export function answerOf(messages: readonly TranscriptMessage[], endedAt: string): string | null {
  const said = untilEnd(messages, endedAt);
  const last = said.findLastIndex(({ role }) => role === "assistant");
  // A turn that was cancelled before the agent wrote has no answer; the last text belongs to an earlier turn.
  const isUnanswered = said.some(
    ({ role, at }, index) => role === "user" && index > last && isLater(at, said[last]?.at),
  );
  if (isUnanswered) return null;
  const asked = said.findLastIndex(({ role }, index) => role === "user" && index < last);
  const turn = said.slice(asked + 1, last + 1);
  return turn.findLast(({ role, text }) => role === "assistant" && text.trim() !== "")?.text ?? null;
}

/** An answer may be stored so much later than the end of its run. */
const lateAnswerMs = 500;

/**
 * Drops turns after the end, since an end may be read late: those that follow-ups began after it, and those of
 * follow-ups from before it that were answered after it.
 */
function untilEnd(messages: readonly TranscriptMessage[], endedAt: string): readonly TranscriptMessage[] {
  const endMs = Date.parse(endedAt);
  // Some services round times to whole seconds.
  const toleranceMs = endMs % 1_000 === 0 ? 999 : 0;
  const isLate = (message: TranscriptMessage | undefined, byMs: number): boolean =>
    Date.parse(message?.at ?? "") > endMs + toleranceMs + byMs;
  const next = messages.findIndex((message, index) => {
    if (index === 0 || message.role !== "user") return false;
    const answer = messages.slice(index + 1).find(({ role }) => role === "assistant");
    return isLate(message, 0) || isLate(answer, lateAnswerMs);
  });
  const before = messages.slice(0, Math.max(next, 0));
  // A later time before it: the API's clock was set back, so its times don't say what came first.
  const isSetBack = before.some((message) => isLate(message, lateAnswerMs));
  return next < 0 || isSetBack ? messages : before;
}

/** False if either time is absent. */
const isLater = (at: string | undefined, than: string | undefined): boolean =>
  Date.parse(at ?? "") > Date.parse(than ?? "");
