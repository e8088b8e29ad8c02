import { shorten } from "#core/command.ts";
import type { Person } from "#core/person.ts";
import { isEnded, type Run } from "#core/run.ts";
import type { RunRecord } from "#core/thread.ts";

import type { Action, Span, Text, View } from "#core/view.ts";

/** What the views below need of a run; `RunRecord` has it all. */
type Shown = Pick<
  RunRecord,
  | "by"
  | "asked"
  | "run"
  | "runId"
  | "dispatch"
  | "cancelling"
  | "failed"
  | "delay"
  | "request"
  | "reopened"
  | "told"
  | "cancelledBy"
>;

const tones: Readonly<Record<string, readonly [View["tone"], string]>> = {
  QUEUED: ["waiting", "Queued"],
  PENDING: ["waiting", "Getting ready"],
  CLAIMED: ["waiting", "Getting ready"],
  INPROGRESS: ["working", "In progress"],
  BLOCKED: ["attention", "Needs an answer"],
  SUCCEEDED: ["good", "Succeeded"],
  FAILED: ["bad", "Failed"],
  ERROR: ["bad", "Stopped by an error of the platform"],
  CANCELLED: ["plain", "Cancelled"],
};

const stateLine = (state: string): readonly [View["tone"], string] =>
  tones[state] ?? ["plain", `State: ${state}`];

/** The card: state, what was asked, who asked, links, and what can be pressed. */
export function cardView(shown: Shown): View {
  const { run } = shown;
  const continued = run !== null && isEnded(run.state) && shown.reopened;
  let [tone, line]: readonly [View["tone"], string] =
    run === null ? ["waiting", "Starting"] : continued ? ["waiting", "Continuing"] : stateLine(run.state);
  if (shown.failed !== null) [tone, line] = ["bad", "Not started"];
  const details: Text[] = [];
  if (shown.failed !== null) details.push([shown.failed]);
  else if (shown.delay !== null) details.push([`Waiting: ${shown.delay} This is tried again by itself.`]);
  if (shown.cancelling && run !== null && !isEnded(run.state)) details.push(["A cancellation is under way."]);
  details.push(whoLine(shown));
  if (run !== null) details.push(...links(run));
  const actions: Action[] = [];
  const ended = shown.failed !== null || (run !== null && isEnded(run.state));
  if (!ended && shown.runId !== null && !shown.cancelling && run?.state !== "BLOCKED") {
    actions.push({ action: "cancel", label: "Cancel", dispatch: shown.dispatch });
  }
  if (ended && !continued && shown.request !== null && run?.state !== "SUCCEEDED") {
    actions.push({ action: "retry", label: "Retry", dispatch: shown.dispatch });
  }
  return { tone, headline: [{ strong: line }], quote: shorten(shown.asked, 300), details, actions };
}

function whoLine(shown: Shown): Text {
  const line: Span[] = ["Asked by ", { person: shown.by }];
  if (shown.runId !== null) line.push(" · run ", { code: shown.runId });
  const model = shown.run?.agent_config?.model_id;
  if (model) line.push(" · model ", { code: model });
  return line;
}

const isWebLink = (link: unknown): link is string =>
  typeof link === "string" && /^https?:\/\/[^\s<>|]+$/.test(link);

/** Pull requests first, then whatever else has an address, then the session. */
function links(run: Omit<Run, "prompt">): Text[] {
  const found: Text[] = [];
  for (const artifact of run.artifacts ?? []) {
    const url = artifact.data?.url;
    if (!isWebLink(url)) continue;
    const title = artifact.data?.title;
    if (artifact.artifact_type === "PULL_REQUEST")
      found.unshift([{ link: url, label: pullRequestName(url) }]);
    else found.push([{ link: url, label: shorten(typeof title === "string" && title ? title : url, 80) }]);
  }
  if (isWebLink(run.session_link)) found.push([{ link: run.session_link, label: "Session" }]);
  return found;
}

function pullRequestName(url: string): string {
  const parts = /\/([\w.-]+\/[\w.-]+)\/(?:pull|pulls|merge_requests)\/(\d+)/.exec(url);
  return parts ? `Pull request ${parts[1]}#${parts[2]}` : "Pull request";
}

const endings: Readonly<Record<string, string>> = {
  SUCCEEDED: " succeeded",
  FAILED: " failed",
  ERROR: " was stopped by an error of the platform",
  CANCELLED: " was cancelled",
};

const replyHere = " Reply here to go on.";

/** What its place did not take, told privately somewhere else, where no reply reaches the agent. */
export const elsewhereView = (view: View, reason: string): View => ({
  ...view,
  headline: view.headline.filter((span) => span !== replyHere),
  details: [...view.details, [`I could not say this in its place: ${reason}`]],
});

/**
 * The reply that tells an end or a BLOCKED. `answer` is the agent's last message; null: there is none;
 * undefined: it could not be read.
 */
export function endView(shown: Shown, run: Omit<Run, "prompt">, answer: string | null | undefined): View {
  const [tone] = stateLine(run.state);
  const took = duration(run);
  const status = run.status_message?.message.trim();
  const details: Text[] = [];
  const headline: Span[] = [{ person: shown.by }, " "];
  if (run.state === "BLOCKED") {
    headline.push({ strong: "The agent needs an answer." }, replyHere);
  } else {
    headline.push(
      { strong: `The run${endings[run.state] ?? ` ended: ${run.state}`}` },
      ...(run.state === "CANCELLED" && shown.cancelledBy ? [" by ", { person: shown.cancelledBy }] : []),
      took === null ? "." : ` after ${took}.`,
    );
  }
  const said = answer?.trim() ? answer : undefined;
  // Where the agent said nothing, the status message is the answer of a success, the reason of the rest.
  if (status && (run.state !== "SUCCEEDED" || said === undefined)) {
    details.push([run.state === "SUCCEEDED" || run.state === "BLOCKED" ? status : `Reason: ${status}`]);
  }
  if (answer === undefined) details.push(["The agent's answer could not be read."]);
  else if (said === undefined && !status && run.state !== "CANCELLED") {
    details.push([run.state === "SUCCEEDED" ? "The agent left no answer." : "No reason was given."]);
  }
  details.push(...links(run));
  if (shown.runId !== null) details.push(["Run ", { code: shown.runId }]);
  return { tone, headline, ...(said === undefined ? {} : { answer: said }), details, actions: [] };
}

/** `1 h 2 min`, `3 min 4 s`, `5 s`; null if the run doesn't tell. */
function duration(run: Pick<Run, "run_time" | "started_at" | "updated_at">): string | null {
  const told = /^P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(run.run_time ?? "");
  let seconds: number;
  if (told && run.run_time !== "P") {
    const [days, hours, minutes, rest] = told.slice(1).map((part) => Number(part ?? 0));
    seconds = (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (rest ?? 0);
  } else if (run.started_at) {
    seconds = (Date.parse(run.updated_at) - Date.parse(run.started_at)) / 1000;
  } else return null;
  if (!Number.isFinite(seconds) || seconds < 0) return null;
  const whole = Math.max(1, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s} s` : `${s} s`;
}

const plain = (tone: View["tone"], headline: Text, details: readonly Text[] = []): View => ({
  tone,
  headline,
  details,
  actions: [],
});

/** Someone may not do this. */
export const refusedView = (reason: string): View => plain("bad", [`Sorry, ${reason}.`]);

/** Comments of somebody without permission stay among people. */
export const notPassedOnView = (reason: string): View =>
  plain("plain", [`This was not passed on to the agent: ${reason}.`]);

/** What was typed makes no sense to us. */
export const problemView = (problem: string): View => plain("attention", rich(problem));

/** A sentence of ours; `code` in backticks is shown as such. */
export const noteView = (note: string, tone: View["tone"] = "plain"): View => plain(tone, rich(note));

/** The dispatch was refused for good. */
export const notStartedView = (by: Person, reason: string, link: string | undefined): View =>
  plain(
    "bad",
    [{ person: by }, " ", { strong: "The run could not be started." }],
    [[`Reason: ${reason}`], ...(isWebLink(link) ? [[{ link, label: "Put it right here" }]] : [])],
  );

/** An effect was given up; `what` is the start of a sentence, such as "Your message". */
export const givenUpView = (what: string, reason: string, link: string | undefined): View =>
  plain("bad", [`${what}: ${reason}`], isWebLink(link) ? [[{ link, label: "Put it right here" }]] : []);

/** The state of one run, for whoever asked. */
export function statusView(shown: Shown): View {
  const card = cardView(shown);
  return { ...card, actions: [] };
}

/** Runs, newest first, one a line. */
export function listView(runs: readonly Run[]): View {
  if (runs.length === 0)
    return plain("plain", ["No run was asked for here yet. Start one: ", { code: "run <prompt>" }]);
  return plain(
    "plain",
    [{ strong: runs.length === 1 ? "The latest run here" : `The latest ${runs.length} runs here` }],
    runs.map((run) => [{ code: run.run_id }, ` ${stateLine(run.state)[1]} · ${shorten(run.title, 80)}`]),
  );
}

/** The commands. `given`: how they are given on the platform, a sentence a line. */
export const helpView = (given: readonly string[]): View =>
  plain(
    "plain",
    [{ strong: "What I can do" }],
    [
      ...given.map(rich),
      [{ code: "run <prompt>" }, " starts a run. Flags stand before the prompt:"],
      [{ code: "--model --env --name --title --skill --factory --mcp" }],
      [{ code: "status [run]" }, " tells where a run is, ", { code: "list" }, " shows the latest runs here"],
      [{ code: "cancel [run]" }, " stops a run, ", { code: "retry" }, " starts the last one again"],
      [{ code: "attach <run>" }, " follows a run that was started elsewhere"],
      [
        { code: "mute" },
        " keeps replies without a mention among people, ",
        { code: "unmute" },
        " passes them on again",
      ],
      [
        "A reply where a run is at work goes to the agent; one that begins with ",
        { code: "!aside" },
        " does not.",
      ],
    ],
  );

/** Splits at backticks: the odd pieces are code. */
const rich = (sentence: string): Text =>
  sentence.split("`").map((piece, index) => (index % 2 === 1 ? { code: piece } : piece));
