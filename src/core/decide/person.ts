/** Decides events from people: whether they are for the bot, permitted, and what they mean. */
import { type Command, isAside, parseMention } from "#core/command.ts";
import type { ButtonEvent, CommandEvent, LabelEvent, PersonEvent, ReplyEvent } from "#core/event.ts";
import type { Permission, Person } from "#core/person.ts";
import { labelDefaults, type Refusal, type Rules, verdict } from "#core/policy.ts";
import { followUpOf, labelRequest, visible } from "#core/prompt.ts";
import { currentRun, isAtWork, type RunRecord, type Thread } from "#core/thread.ts";
import * as notes from "#core/words/notes.ts";
import { applyCommand, applyParsed, cancelRun, commandIn } from "./command.ts";
import { dispatch, retryRun } from "./dispatch.ts";
import { add, type Draft, nextId, once, runOf, tell } from "./draft.ts";

/** Event ids kept per thread: far more than a platform redelivers. */
const mostSeen = 5_000;

/** `again`: the event's thread is not saved yet; redeliver the event. */
export type Concern = "ours" | "not-ours" | "again";

/** Returns whether the event is for the bot; most messages are not. */
export function concern(thread: Thread | null, event: PersonEvent, rules: Rules): Concern {
  if (event.by.bot) return "not-ours";
  switch (event.kind) {
    case "command":
      return "ours";
    case "label":
      if (labelDefaults(rules, event.label) === undefined) return "not-ours";
      return thread !== null && cameBefore(thread, event) ? "not-ours" : "ours";
    case "button":
      // The card is posted, but its place may not be saved yet.
      return thread === null && event.old !== true ? "again" : "ours";
    case "reply": {
      if (isAside(visible(event.text))) return "not-ours";
      // A new thread would take the place from the thread whose card is above the reply.
      if (thread === null && event.underOurs) return "again";
      if (event.mention) return "ours";
      if (thread === null) return "not-ours";
      if (thread.muted || rules.replies === "mention") return "not-ours";
      if (thread.mutedUntil && isBefore(event.at, thread.mutedUntil)) return "not-ours";
      const waiting = [...attaching(thread), ...thread.waiting.filter(asksForRun)].map(({ at }) => at);
      // Requests may be delivered out of order.
      const asked = thread.runs.length > 0 ? thread.runs.map(({ askedAt }) => askedAt) : waiting;
      // A reply from before every request is part of a prompt, not a follow-up.
      const isEarlier = asked.every((at) => at !== null && isBefore(event.at, at));
      return isEarlier ? "not-ours" : "ours";
    }
    default:
      return event satisfies never;
  }
}

/** Returns whether the event gives a run to a thread without one, if its author may. */
function asksForRun(event: PersonEvent): boolean {
  switch (event.kind) {
    case "label":
      return true;
    case "button":
      return false;
    case "command": {
      const parsed = commandIn(event);
      return parsed.ok && givesRun(parsed.command);
    }
    case "reply": {
      const parsed = event.mention ? parseMention(event.text) : undefined;
      return parsed === null || (parsed?.ok === true && givesRun(parsed.command));
    }
    default:
      return event satisfies never;
  }
}

const givesRun = ({ kind }: Command): boolean => kind === "run" || kind === "attach";

/** Returns the commands whose run is still being looked for, if the thread has no other that started. */
const attaching = ({ runs, effects }: Thread): readonly CommandEvent[] =>
  effects.flatMap((effect) => {
    const asked = effect.kind === "hand-over" ? effect.event : effect.kind === "fetch" ? effect.asked : null;
    const isOnly = runs.every(({ failed }) => failed !== null);
    return isOnly && asked !== null && asksForRun(asked) ? [asked] : [];
  });

const isBefore = (one: string, other: string): boolean => Date.parse(one) < Date.parse(other);

/** The largest differences between the times that a platform gives for one label. */
const anotherWayMs = 60_000;
/** Two webhooks of the bot may deliver it. */
const twoDeliveriesMs = 2_000;
const labelKey = ({ label, by, recovered }: LabelEvent, way: boolean): string =>
  `label ${(recovered === true) === way ? "read back" : "delivered"} ${label.toLowerCase()} ${by.id} `;

/** Returns whether this label arrived before, delivered or read back; only its time identifies it. */
function cameBefore(thread: Thread, event: LabelEvent): boolean {
  const isSaid = (key: string, withinMs: number): boolean =>
    thread.said.some(
      (said) =>
        said.startsWith(key) &&
        Math.abs(Date.parse(said.slice(key.length)) - Date.parse(event.at)) <= withinMs,
    );
  return isSaid(labelKey(event, false), anotherWayMs) || isSaid(labelKey(event, true), twoDeliveriesMs);
}

/** An automation may put the label on and off for ever. */
const mostLabels = 50;

function noteLabel(draft: Draft, event: LabelEvent): void {
  const { said } = draft.thread;
  const old = said.filter((key) => key.startsWith("label ")).slice(0, -mostLabels);
  draft.thread.said = [...said.filter((key) => !old.includes(key)), `${labelKey(event, true)}${event.at}`];
}

/**
 * Decides the event, after those that wait. An event waits for its author's permission if that is unknown, and for the
 * run that is being attached, to which it may belong.
 */
export function takeIn(draft: Draft, event: PersonEvent): void {
  draft.thread.seen = [...draft.thread.seen, event.id].slice(-mostSeen);
  if (event.kind === "label") noteLabel(draft, event);
  draft.thread.waiting = [...draft.thread.waiting, event];
  askPermission(draft, event);
  drain(draft);
}

function askPermission(draft: Draft, event: PersonEvent): void {
  if (verdict(draft.rules, event.by, event.scope).kind !== "ask" || event.place === null) return;
  const asked = draft.thread.effects.some(
    (effect) => effect.kind === "permission" && effect.person.id === event.by.id,
  );
  if (!asked) add(draft, event.id, { kind: "permission", at: event.place, person: event.by });
}

/** Notes the permission of the person whose events wait for it. */
export function permissionKnown(draft: Draft, person: Person, permission: Permission): void {
  draft.thread.waiting = draft.thread.waiting.map((event) =>
    event.by.id === person.id ? { ...event, by: { ...event.by, permission } } : event,
  );
}

/** Drops the events that waited for the person's permission, and tells their author why. */
export function permissionUnknown(draft: Draft, person: Person, reason: string): void {
  const first = draft.thread.waiting.find((event) => event.by.id === person.id);
  draft.thread.waiting = draft.thread.waiting.filter((event) => event.by.id !== person.id);
  if (first !== undefined) tell(draft, first, notes.permissionUnknownView(reason));
}

/** Decides the events that need wait no longer. */
export function drain(draft: Draft): void {
  for (;;) {
    const [next, ...rest] = draft.thread.waiting;
    if (next === undefined || attaching(draft.thread).length > 0) return;
    if (verdict(draft.rules, next.by, next.scope).kind === "ask") return;
    draft.thread.waiting = rest;
    apply(draft, next);
  }
}

function apply(draft: Draft, event: PersonEvent): void {
  const allowed = verdict(draft.rules, event.by, event.scope);
  if (allowed.kind === "no") return refuse(draft, event, allowed.refusal);
  if (allowed.kind !== "yes") return;
  switch (event.kind) {
    case "command":
      return applyParsed(draft, event, commandIn(event));
    case "reply":
      return applyReply(draft, event);
    case "button":
      return applyButton(draft, event);
    case "label":
      return applyLabel(draft, event);
    default:
      return event satisfies never;
  }
}

/** Further replies that are refused stay unmarked: nobody can hold up the reports behind their marks. */
const mostRefusalsToMark = 10;
const refusalsToMark = ({ thread }: Draft): number =>
  thread.effects.filter((effect) => effect.kind === "react" && effect.reaction === "refused").length;

/** Refuses the event. A public note is sent only once, so that nobody can make the bot flood a place. */
function refuse(draft: Draft, event: PersonEvent, refusal: Refusal): void {
  if (event.kind === "reply" && !event.mention) {
    if (refusalsToMark(draft) < mostRefusalsToMark) markRefused(draft, event);
    if (once(draft, "refused replies")) tell(draft, event, notes.replyRefusedView(refusal));
    return;
  }
  const isPrivate = "answerVia" in event && event.answerVia !== undefined;
  if (isPrivate || once(draft, `refused ${event.by.id}`)) tell(draft, event, notes.refusedView(refusal));
}

const markRefused = (draft: Draft, { id, place, message }: ReplyEvent): void => {
  add(draft, id, { kind: "react", at: place, message, reaction: "refused" });
};

function applyReply(draft: Draft, event: ReplyEvent): void {
  const latest = currentRun(draft.thread);
  if (event.files && (event.mention || (latest !== undefined && !draft.thread.muted)))
    leaveFiles(draft, event);
  if (event.mention) {
    const parsed = parseMention(event.text);
    if (parsed !== null) return applyParsed(draft, event, parsed);
    if (latest === undefined || latest.failed !== null) {
      return applyCommand(draft, event, { kind: "run", prompt: event.text.trim(), flags: {} });
    }
  }
  // Nobody may have made a run while the event waited; one that was asked for before may still come.
  if (latest === undefined) return unsee(draft, event);
  // The thread may have been muted meanwhile.
  if (draft.thread.muted && !event.mention) return;
  if (latest.failed !== null) {
    if (once(draft, `no run ${latest.dispatch} ${event.by.id}`)) tell(draft, event, notes.notSentView);
    return;
  }
  if (visible(event.text) !== "") followUp(draft, event, latest);
}

/** Has the event decided anew if it comes again. */
const unsee = (draft: Draft, { id }: ReplyEvent): void => {
  draft.thread.seen = draft.thread.seen.filter((seen) => seen !== id);
};

/** Tells each person once that files don't reach the agent. A message without text gets a reaction. */
function leaveFiles(draft: Draft, event: ReplyEvent): void {
  if (visible(event.text) === "") markRefused(draft, event);
  if (once(draft, `files ${event.by.id}`)) tell(draft, event, notes.filesLeftView);
}

function followUp(draft: Draft, event: ReplyEvent, { dispatch }: RunRecord): void {
  const { place, message, by } = event;
  const id = nextId(draft, event.id, "follow-up");
  add(draft, event.id, {
    kind: "follow-up",
    dispatch,
    message: followUpOf(event.text, by, id),
    from: { place, message, by },
  });
}

function applyButton(draft: Draft, event: ButtonEvent): void {
  const record = runOf(draft, event.dispatch);
  if (record === undefined) return tell(draft, event, notes.oldCardView);
  switch (event.action) {
    case "cancel":
      return cancelRun(draft, event, record);
    case "retry":
      return retryRun(draft, event, record);
    default:
      return event.action satisfies never;
  }
}

function applyLabel(draft: Draft, event: LabelEvent): void {
  if (draft.thread.runs.some(isAtWork)) return tell(draft, event, notes.runActiveView);
  const { subject, label } = event;
  dispatch(draft, event, {
    words: labelRequest(subject),
    asked: subject.title,
    flags: {},
    label,
    subject,
    withContext: true,
  });
}
