/** What commands mean, wherever they were given. */
import { type Command, parseCommand } from "#core/command.ts";
import type { FetchEffect } from "#core/effect.ts";
import { type CommandEvent, type PersonEvent, type ReplyEvent, refOf } from "#core/event.ts";
import { runRef } from "#core/place.ts";
import { visible } from "#core/prompt.ts";
import { dispatchOf, isEnded, type Run, scopeKey } from "#core/run.ts";
import { currentRun, newRun, type RunRecord } from "#core/thread.ts";
import { helpView, listView, noteView, problemView, statusView } from "#core/words/views.ts";
import { dispatch, retry } from "./dispatch.ts";
import { add, type Draft, postCard, runOf, setLabels, tell, updateRun } from "./draft.ts";
import { runChanged } from "./run.ts";

/** Most runs that `list` shows. */
const mostListed = 10;

export function applyCommand(draft: Draft, event: CommandEvent | ReplyEvent, command: Command): void {
  switch (command.kind) {
    case "run": {
      if (visible(command.prompt) === "" && command.flags.skill === undefined) {
        return tell(
          draft,
          event,
          problemView("What should the agent do? For example: `run fix the flaky test`."),
        );
      }
      const first = event.kind === "reply" && event.first;
      return dispatch(draft, event, {
        words: command.prompt,
        flags: command.flags,
        label: null,
        subject: event.subject ?? null,
        withContext: event.place !== null && !first,
      });
    }
    case "help":
      return tell(draft, event, helpView(draft.rules.platforms[event.by.platform]?.help ?? []));
    case "mute":
    case "unmute":
      return mute(draft, event, command.kind === "mute");
    case "list":
      add(draft, event.id, { kind: "list", asked: asCommand(event, command) });
      return;
    case "attach":
    case "status":
    case "cancel":
    case "retry":
      return aboutRun(draft, event, command);
    default:
      return command satisfies never;
  }
}

type AboutRun = Extract<Command, { kind: "attach" | "status" | "cancel" | "retry" }>;

/**
 * A run that is named belongs to this thread, or the command is handed to the thread that has it. A run that
 * is not named is the thread's latest; a command without a place means the latest of its scope.
 */
function aboutRun(draft: Draft, event: CommandEvent | ReplyEvent, command: AboutRun): void {
  if (command.run === null) {
    // Only what failed to start can be what somebody wants started again although another run is at work.
    const meant = command.kind === "retry" ? draft.thread.runs.at(-1) : currentRun(draft.thread);
    if (meant !== undefined) return aboutRecord(draft, event, command, meant);
    if (event.place === null) add(draft, event.id, { kind: "list", asked: asCommand(event, command) });
    else tell(draft, event, noteView("No run was asked for here yet. Start one: `run <prompt>`."));
    return;
  }
  const record = draft.thread.runs.find((known) => known.runId === command.run);
  if (record !== undefined) {
    // Knowing a run's id gives no rights in a channel or repository where the person may have none.
    if (event.scope === draft.thread.scope) aboutRecord(draft, event, command, record);
    else tell(draft, event, elsewhere(command.run));
    return;
  }
  const own =
    draft.thread.id === refOf(event) || (event.place !== null && draft.thread.places.includes(event.place));
  if (own) {
    add(draft, event.id, { kind: "hand-over", ref: runRef(command.run), event: asCommand(event, command) });
  } else tell(draft, event, unknownRun(command.run));
}

function aboutRecord(draft: Draft, event: PersonEvent, command: AboutRun, record: RunRecord): void {
  switch (command.kind) {
    case "status":
      return tell(draft, event, statusView(record));
    case "cancel":
      return cancelRun(draft, event, record);
    case "retry":
      return retryRun(draft, event, record);
    case "attach":
      return tell(draft, event, followed(record.runId ?? record.dispatch));
    default:
      return command satisfies never;
  }
}

export function cancelRun(draft: Draft, event: PersonEvent, record: RunRecord): void {
  if (record.failed !== null) return tell(draft, event, noteView("That run was never started."));
  if (record.run !== null && isEnded(record.run.state) && !record.reopened) {
    return tell(draft, event, noteView("That run has already ended."));
  }
  if (record.cancelling) return tell(draft, event, noteView("That run is already being cancelled."));
  add(draft, event.id, { kind: "cancel", dispatch: record.dispatch, asked: event });
  updateRun(draft, record.dispatch, { cancelling: true, cancelledBy: event.by });
  if (event.kind === "reply" || event.kind === "command") {
    const { place, message } = event;
    if (place !== null && message !== undefined) {
      add(draft, event.id, { kind: "react", at: place, message, reaction: "taken" });
      return;
    }
  }
  tell(draft, event, noteView("Cancelling the run. Its card tells when it has stopped."));
}

export function retryRun(draft: Draft, event: PersonEvent, record: RunRecord): void {
  const retried = retry(draft, record, event);
  switch (retried) {
    case "started": {
      const { places } = draft.thread;
      const seen = event.place === null ? places.length === 0 : places.includes(event.place);
      if (!seen) tell(draft, event, noteView("The run is started again, where it was asked for first."));
      return;
    }
    case "already":
      return tell(draft, event, noteView("That run was already started again."));
    case "unfinished":
      return tell(
        draft,
        event,
        noteView("That run is still at work. Reply to steer it, or `cancel` it first."),
      );
    case "attached":
      return tell(
        draft,
        event,
        noteView("That run was not started here, or long ago, so it can't be started again from here."),
      );
    default:
      return retried satisfies never;
  }
}

function mute(draft: Draft, event: CommandEvent | ReplyEvent, muted: boolean): void {
  if (event.place === null) {
    return tell(draft, event, problemView("Say this inside the thread that it is about, after a mention."));
  }
  if (draft.thread.muted && !muted) draft.thread.mutedUntil = event.at;
  draft.thread.muted = muted;
  const note = muted
    ? "Replies without a mention stay among people from now on. `unmute` passes them on again."
    : "Replies go to the agent again.";
  tell(draft, event, noteView(note));
}

/** No thread of ours has the run that the command named. */
export function notTaken(draft: Draft, event: CommandEvent): void {
  const parsed = parseCommand(event.text);
  if (!parsed.ok || !("run" in parsed.command) || parsed.command.run === null) return;
  const { kind, run } = parsed.command;
  if (kind === "attach" || kind === "status")
    add(draft, event.id, { kind: "fetch", runId: run, asked: event });
  else tell(draft, event, unknownRun(run));
}

/** The run that `attach` or `status` named, as the API knows it; null: the API has none. */
export function attachedRun(draft: Draft, effect: FetchEffect, run: Run | null): void {
  const { asked } = effect;
  if (run === null)
    return tell(draft, asked, noteView(`The API knows no run \`${effect.runId}\`.`, "attention"));
  const home = run.metadata?.[scopeKey];
  if (home !== undefined && home !== asked.scope) return tell(draft, asked, elsewhere(run.run_id));
  const record = recordOf(draft, asked, run);
  const parsed = asked.kind === "command" ? parseCommand(asked.text) : null;
  if (parsed?.ok && parsed.command.kind === "status")
    return tell(draft, asked, statusView({ ...record, run }));
  if (runOf(draft, record.dispatch) !== undefined) return;
  if (draft.thread.runs.some(({ runId }) => runId === run.run_id)) {
    return tell(draft, asked, followed(run.run_id));
  }
  if (isOurs(draft, run))
    return tell(draft, asked, noteView(`The run \`${run.run_id}\` is followed where it was asked for.`));
  draft.thread.runs = [...draft.thread.runs, record];
  postCard(draft, record, asked.place ?? asked.scope);
  setLabels(draft);
  runChanged(draft, record, run);
}

/**
 * One of our threads asked for the run and may not have heard yet that it was made: it must find its run free
 * then. A run that is older than that has no thread any more if it comes this far.
 */
function isOurs(draft: Draft, run: Run): boolean {
  const dispatch = dispatchOf(run);
  if (dispatch === null) return false;
  return (
    runOf(draft, dispatch) !== undefined || draft.nowMs - Date.parse(run.created_at) < draft.rules.retryForMs
  );
}

/** A record of a run that was not dispatched from here. */
function recordOf(draft: Draft, asked: PersonEvent, run: Run): RunRecord {
  return {
    ...newRun,
    dispatch: asked.id,
    runId: run.run_id,
    name: run.agent_config?.name ?? null,
    by: asked.by,
    words: "",
    asked: run.title,
    subject: null,
    request: null,
    ...("answerVia" in asked && asked.answerVia !== undefined ? { answerVia: asked.answerVia } : {}),
    since: draft.now,
    askedAt: asked.place === null ? null : asked.at,
    cards: asked.place === null ? {} : { [asked.place]: null },
  };
}

/** Our recent runs, newest first, for a command that named none. */
export function listed(draft: Draft, event: CommandEvent, runs: readonly Run[]): void {
  const here = runs.filter((run) => run.metadata?.[scopeKey] === event.scope);
  const parsed = parseCommand(event.text);
  const kind = parsed.ok ? parsed.command.kind : "list";
  const [latest] = here;
  if (kind === "list" || latest === undefined) {
    return tell(draft, event, listView(here.slice(0, mostListed)));
  }
  const handOver = (run: Run): void => {
    add(draft, event.id, {
      kind: "hand-over",
      ref: runRef(run.run_id),
      event: { ...event, text: `${kind} ${run.run_id}` },
    });
  };
  if (kind !== "cancel") return handOver(latest);
  const unfinished = here.filter((run) => !isEnded(run.state));
  const [only] = unfinished;
  if (only === undefined) return tell(draft, event, noteView("No run is at work here."));
  if (unfinished.length === 1) return handOver(only);
  const view = listView(unfinished.slice(0, mostListed));
  tell(draft, event, { ...view, headline: ["Which one? Say ", { code: "cancel <run>" }, "."] });
}

/** The answer to `attach` where one of our threads has the run. */
export const followed = (run: string) => noteView(`The run \`${run}\` is already followed in a thread here.`);
const elsewhere = (run: string) =>
  noteView(`The run \`${run}\` belongs to another channel or repository.`, "bad");
const unknownRun = (run: string) =>
  noteView(
    `I follow no run \`${run}\` here. \`attach ${run}\` follows one that was started elsewhere.`,
    "attention",
  );

/** The event with the command as its text: a mention's words become what follows `/agent`. */
function asCommand(event: CommandEvent | ReplyEvent, command: Command): CommandEvent {
  if (event.kind === "command") return event;
  const { id, at, by, scope, place, message } = event;
  const run = "run" in command && command.run !== null ? ` ${command.run}` : "";
  return { kind: "command", id, at, by, scope, place, message, text: `${command.kind}${run}` };
}
