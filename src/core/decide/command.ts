/** Decides commands, from events of any kind. */
import { type Command, type ParsedCommand, parseCommand } from "#core/command.ts";
import type { FetchEffect } from "#core/effect.ts";
import { type CommandEvent, type PersonEvent, type ReplyEvent, refOf } from "#core/event.ts";
import { dispatchFor, numberedRoom, runRef } from "#core/place.ts";
import { visible } from "#core/prompt.ts";
import { dispatchOf, isEnded, type Run, scopeKey } from "#core/run.ts";
import { currentRun, isAtWork, newRun, type RunRecord, type Thread } from "#core/thread.ts";
import { listView, statusView, whichRunView } from "#core/words/card.ts";
import { helpView } from "#core/words/help.ts";
import * as notes from "#core/words/notes.ts";
import { muteOutside, noPrompt } from "#core/words/problems.ts";
import { dispatch, retryRun } from "./dispatch.ts";
import { add, answerViaOf, type Draft, postCard, runOf, setLabels, tell, updateRun } from "./draft.ts";
import { runChanged } from "./run.ts";

/** The most runs that `list` shows. */
const mostListed = 10;

/** Returns the event's command. */
export const commandIn = ({ command, text }: CommandEvent): ParsedCommand =>
  command === undefined ? parseCommand(text) : { ok: true, command };

/** Returns a command event with the parsed command. */
function withCommand(event: CommandEvent | ReplyEvent, command: Command): CommandEvent {
  if (event.kind === "command") return { ...event, command };
  const { id, at, by, scope, place, text, message } = event;
  return { kind: "command", id, at, by, scope, place, text, command, message };
}

/** Carries out the command, or explains its problem. */
export function applyParsed(draft: Draft, event: CommandEvent | ReplyEvent, parsed: ParsedCommand): void {
  if (parsed.ok) applyCommand(draft, event, parsed.command);
  else tell(draft, event, notes.problemView(parsed.problem));
}

/** Carries the command out. */
export function applyCommand(draft: Draft, event: CommandEvent | ReplyEvent, command: Command): void {
  switch (command.kind) {
    case "run": {
      if (visible(command.prompt) === "" && command.flags.skill === undefined) {
        return tell(draft, event, notes.problemView(noPrompt));
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
      add(draft, event.id, { kind: "list", asked: withCommand(event, command) });
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

/** Decides a command about the named run or, without an id, about the current one of the thread or scope. */
function aboutRun(draft: Draft, event: CommandEvent | ReplyEvent, command: AboutRun): void {
  if (command.run === null) {
    // `retry` means the latest run, even if it failed to start while another is at work.
    const meant = command.kind === "retry" ? draft.thread.runs.at(-1) : currentRun(draft.thread);
    if (meant !== undefined) return aboutRecord(draft, event, command, meant);
    if (event.place === null) add(draft, event.id, { kind: "list", asked: withCommand(event, command) });
    else tell(draft, event, notes.noRunHereView);
    return;
  }
  const record = draft.thread.runs.find((known) => known.runId === command.run);
  if (record !== undefined) {
    // A run's id gives no rights in a channel or repository where the person may have none.
    if (isAtHome(draft.thread, event)) aboutRecord(draft, event, command, record);
    else tell(draft, event, notes.foreignRunView(command.run));
    return;
  }
  const own =
    draft.thread.id === refOf(event) || (event.place !== null && draft.thread.places.includes(event.place));
  if (own) {
    add(draft, event.id, { kind: "hand-over", ref: runRef(command.run), event: withCommand(event, command) });
  } else tell(draft, event, notes.unknownRunView(command.run));
}

/** A repository may have the former name of the thread's. */
function isAtHome({ scope, places, aliases = {} }: Thread, event: PersonEvent): boolean {
  const room = event.place === null ? null : numberedRoom(event.place);
  const rooms = [...places, ...Object.keys(aliases)].flatMap((place) => numberedRoom(place) ?? []);
  return event.scope === scope && (room === null || rooms.length === 0 || rooms.includes(room));
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
      return tell(draft, event, notes.alreadyFollowedView(record.runId ?? record.dispatch));
    default:
      return command satisfies never;
  }
}

/** Cancels the run, or tells the person why it can't be cancelled. */
export function cancelRun(draft: Draft, event: PersonEvent, record: RunRecord): void {
  if (record.failed !== null) return tell(draft, event, notes.neverStartedView);
  if (!isAtWork(record)) return tell(draft, event, notes.alreadyEndedView);
  const isUnderWay = draft.thread.effects.some(
    (effect) => effect.kind === "cancel" && effect.dispatch === record.dispatch,
  );
  if (isUnderWay) return tell(draft, event, notes.alreadyCancellingView);
  add(draft, event.id, { kind: "cancel", dispatch: record.dispatch, asked: event });
  updateRun(draft, record.dispatch, { cancelling: true, cancelledBy: event.by });
  const { place } = event;
  const message = "message" in event ? event.message : undefined;
  if (place === null || message === undefined) tell(draft, event, notes.cancellingView);
  else add(draft, event.id, { kind: "react", at: place, message, reaction: "taken" });
}

function mute(draft: Draft, event: CommandEvent | ReplyEvent, muted: boolean): void {
  if (event.place === null) return tell(draft, event, notes.problemView(muteOutside));
  if (draft.thread.muted && !muted) draft.thread.mutedUntil = event.at;
  draft.thread.muted = muted;
  tell(draft, event, muted ? notes.mutedView : notes.unmutedView);
}

/**
 * Decides the rest of a command that was handed over. `taken`: a thread has its run; if it is this one, which has got it
 * since and knows the event already, the command is carried out here.
 */
export function handedOver(draft: Draft, event: CommandEvent, taken: boolean): void {
  const parsed = commandIn(event);
  if (!parsed.ok || !("run" in parsed.command) || parsed.command.run === null) return;
  const { kind, run } = parsed.command;
  if (draft.thread.runs.some(({ runId }) => runId === run)) return aboutRun(draft, event, parsed.command);
  if (taken) return;
  if (kind === "attach" || kind === "status")
    add(draft, event.id, { kind: "fetch", runId: run, asked: event });
  else tell(draft, event, notes.unknownRunView(run));
}

/** Decides `attach` or `status` for a run that no thread has; `run` is null if the API has none either. */
export function attachedRun(draft: Draft, { asked, runId }: FetchEffect, run: Run | null): void {
  if (run === null) return tell(draft, asked, notes.noSuchRunView(runId));
  const home = run.metadata?.[scopeKey];
  if (home !== undefined && home !== asked.scope) return tell(draft, asked, notes.foreignRunView(runId));
  const record = attachedRecord(draft, asked, run);
  const parsed = commandIn(asked);
  if (parsed.ok && parsed.command.kind === "status")
    return tell(draft, asked, statusView({ ...record, run }));
  if (runOf(draft, record.dispatch) !== undefined) return;
  if (draft.thread.runs.some((known) => known.runId === run.run_id)) {
    return tell(draft, asked, notes.alreadyFollowedView(runId));
  }
  if (isOurs(draft, run)) return tell(draft, asked, notes.followedAtHomeView(runId));
  draft.thread.runs = [...draft.thread.runs, record];
  postCard(draft, record, asked.place ?? asked.scope);
  setLabels(draft);
  runChanged(draft, record, run);
}

/** Returns whether a thread requested the run and may not know its id yet; no other may claim the run then. */
function isOurs(draft: Draft, run: Run): boolean {
  const dispatch = dispatchOf(run);
  if (dispatch === null) return false;
  return (
    runOf(draft, dispatch) !== undefined || draft.nowMs - Date.parse(run.created_at) < draft.rules.retryForMs
  );
}

function attachedRecord(draft: Draft, asked: CommandEvent, run: Run): RunRecord {
  return {
    ...newRun,
    dispatch: dispatchFor(asked.id),
    runId: run.run_id,
    name: run.agent_config?.name ?? null,
    by: asked.by,
    asked: run.title,
    request: null,
    ...answerViaOf(asked),
    since: draft.now,
    askedAt: asked.place === null ? null : asked.at,
    cards: asked.place === null ? {} : { [asked.place]: null },
  };
}

/** Decides a command without a run id; `runs` are the bot's recent runs, newest first. */
export function listed(draft: Draft, event: CommandEvent, runs: readonly Run[]): void {
  const here = runs.filter((run) => run.metadata?.[scopeKey] === event.scope);
  const parsed = commandIn(event);
  const [latest] = here;
  if (latest === undefined) return tell(draft, event, notes.noRunHereView);
  if (!parsed.ok || !("run" in parsed.command)) {
    return tell(draft, event, listView(here.slice(0, mostListed)));
  }
  const { kind } = parsed.command;
  const handOver = ({ run_id: run }: Run): void => {
    const handedOver = withCommand(event, { kind, run });
    add(draft, event.id, { kind: "hand-over", ref: runRef(run), event: handedOver });
  };
  if (kind !== "cancel") return handOver(latest);
  const unfinished = here.filter((run) => !isEnded(run.state));
  const [only] = unfinished;
  if (only === undefined) return tell(draft, event, notes.noActiveRunView);
  if (unfinished.length === 1) return handOver(only);
  tell(draft, event, whichRunView(unfinished.slice(0, mostListed)));
}
