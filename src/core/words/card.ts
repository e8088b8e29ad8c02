/** Views of a run in progress: its card, its status, and the list of runs. */
import { shorten } from "#base/shorten.ts";
import { isEnded, type Run } from "#core/run.ts";
import type { RunRecord } from "#core/thread.ts";
import type { Action, Span, Text, View } from "#core/view.ts";
import { links, plain, stateLine } from "./parts.ts";

/** The most characters of a request in a view. */
export const longestQuote = 300;

/** Returns the text for a request that consists of a skill alone. */
export const skillRequest = (skill: string | undefined): string => `Skill ${skill}`;

/** Title of a run whose request has no visible text. */
export const untitled = "Agent run";

const delays = {
  create: "",
  "follow-up": "a message has not reached the agent yet. ",
  cancel: "the run could not be cancelled yet. ",
};

/** Returns the card's reason for a delay of this kind of effect; `reason` is a sentence. */
export const delayOf = (kind: keyof typeof delays, reason: string): string => `${delays[kind]}${reason}`;

/** Returns the card: state, request, requester, links and buttons. */
export function cardView(record: RunRecord): View {
  const { run, failed, delay, cancelling, reopened, dispatch, runId } = record;
  const ended = run !== null && isEnded(run.state);
  const continued = ended && reopened;
  const details: Text[] = [];
  if (failed !== null) details.push([failed]);
  else if (delay !== null) details.push([`Waiting: ${delay} I keep trying.`]);
  if (cancelling && run !== null && !ended) details.push(["Cancelling…"]);
  details.push(requester(record));
  if (run !== null) details.push(...links(run));
  const actions: Action[] = [];
  const over = failed !== null || ended;
  if (!over && runId !== null && !cancelling && run?.state !== "BLOCKED") {
    actions.push({ action: "cancel", label: "Cancel", dispatch });
  }
  if (over && !continued && record.request !== null && run?.state !== "SUCCEEDED") {
    actions.push({ action: "retry", label: "Retry", dispatch });
  }
  const [tone, line] = cardState(record, continued);
  const quote = shorten(record.asked, longestQuote);
  return { tone, headline: [{ strong: line }], quote, details, actions };
}

function cardState({ failed, run }: RunRecord, continued: boolean): readonly [View["tone"], string] {
  if (failed !== null) return ["bad", "Not started"];
  if (run === null) return ["waiting", "Starting"];
  return continued ? ["waiting", "Continuing"] : stateLine(run.state);
}

function requester({ by, runId, run }: RunRecord): Text {
  const line: Span[] = ["Asked by ", { person: by }];
  if (runId !== null) line.push(" · run ", { code: runId });
  const model = run?.agent_config?.model_id;
  if (model) line.push(" · model ", { code: model });
  return line;
}

/** Returns the reply to `status`. */
export const statusView = (record: RunRecord): View => ({ ...cardView(record), actions: [] });

const runLines = (runs: readonly Run[]): Text[] =>
  runs.map((run) => [{ code: run.run_id }, ` ${stateLine(run.state)[1]} · ${shorten(run.title, 80)}`]);

/** Returns the reply to `list`; `runs` is not empty, newest first. */
export const listView = (runs: readonly Run[]): View =>
  plain(
    "plain",
    [{ strong: runs.length === 1 ? "The latest run here" : `The latest ${runs.length} runs here` }],
    runLines(runs),
  );

/** Returns the question which of several active runs to cancel. */
export const whichRunView = (runs: readonly Run[]): View =>
  plain("plain", ["Which one? Say ", { code: "cancel <run>" }, "."], runLines(runs));
