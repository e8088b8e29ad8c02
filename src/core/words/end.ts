/** Views of a run's end, or of its question. */
import type { Run } from "#core/run.ts";
import type { RunRecord } from "#core/thread.ts";
import type { Span, Text, View } from "#core/view.ts";
import { links, stateLine } from "./parts.ts";

const endings: Readonly<Record<string, string>> = {
  SUCCEEDED: "The run succeeded",
  FAILED: "The run failed",
  ERROR: "The run failed because the agent service had an error",
  CANCELLED: "The run was cancelled",
};

/** Status message of a run that the API no longer knows. */
export const lostRunReason = "The API no longer knows this run.";

const replyHere = " Reply here to continue.";

/** Returns the report of an end or a BLOCKED. `answer` is null if there is none, undefined if unreadable. */
export function endView(
  { by, cancelledBy, runId }: RunRecord,
  run: Omit<Run, "prompt">,
  answer: string | null | undefined,
): View {
  const { state } = run;
  const [tone] = stateLine(state);
  const took = duration(run);
  const status = run.status_message?.message.trim();
  const details: Text[] = [];
  const headline: Span[] = [{ person: by }, " "];
  if (state === "BLOCKED") headline.push({ strong: "The agent needs your answer." }, replyHere);
  else {
    headline.push({ strong: endings[state] ?? `The run ended: ${state}` });
    if (state === "CANCELLED" && cancelledBy) headline.push(" by ", { person: cancelledBy });
    headline.push(took === null ? "." : ` after ${took}.`);
  }
  const said = answer?.trim() ? answer : undefined;
  // The status message replaces a missing answer after a success, and is the reason otherwise.
  if (status && (state !== "SUCCEEDED" || said === undefined)) {
    details.push([state === "SUCCEEDED" || state === "BLOCKED" ? status : `Reason: ${status}`]);
  }
  if (answer === undefined) details.push(["I could not read the agent's answer."]);
  else if (said === undefined && !status && state !== "CANCELLED") {
    details.push([state === "SUCCEEDED" ? "The agent left no answer." : "No reason was given."]);
  }
  details.push(...links(run));
  if (runId !== null) details.push(["Run ", { code: runId }]);
  return { tone, headline, ...(said === undefined ? {} : { answer: said }), details, actions: [] };
}

/** Returns the report of an answer that its conversation showed only after the end was reported. */
export function lateAnswerView(
  { by, runId }: RunRecord,
  { state }: Pick<Run, "state">,
  answer: string,
): View {
  const [tone] = stateLine(state);
  const headline = [{ person: by }, " ", { strong: "The agent's answer came late:" }];
  return { tone, headline, answer, details: runId === null ? [] : [["Run ", { code: runId }]], actions: [] };
}

/** Returns a reply that could not be posted, for a private message, where replies don't reach the agent. */
export const elsewhereView = (view: View, reason: string): View => ({
  ...view,
  headline: view.headline.filter((span) => span !== replyHere),
  details: [...view.details, [`I could not post this where the run was asked for: ${reason}`]],
});

/** Returns `1 h 2 min`, `3 min 4 s` or `5 s`; null if the run has no times. */
function duration(run: Pick<Run, "run_time" | "started_at" | "updated_at">): string | null {
  const given = /^P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(run.run_time ?? "");
  let seconds: number;
  if (given && run.run_time !== "P") {
    const [days = 0, hours = 0, minutes = 0, rest = 0] = given.slice(1).map((part) => Number(part ?? 0));
    seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest;
  } else if (run.started_at) {
    seconds = (Date.parse(run.updated_at) - Date.parse(run.started_at)) / 1000;
  } else return null;
  if (!Number.isFinite(seconds) || seconds < 0) return null;
  const whole = Math.max(1, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s} s` : `${s} s`;
}
