/** What people do: whether it concerns us, whether they may, and what it means. */
import { isAside, parseCommand, parseMention } from "#core/command.ts";
import type { ButtonEvent, LabelEvent, PersonEvent, ReplyEvent } from "#core/event.ts";
import type { Permission, Person } from "#core/person.ts";
import { labelDefaults, type Rules, verdict } from "#core/policy.ts";
import { followUpOf, visible } from "#core/prompt.ts";
import { currentRun, isAtWork, type RunRecord, type Thread } from "#core/thread.ts";
import { noteView, notPassedOnView, problemView, refusedView } from "#core/words/views.ts";
import { applyCommand, cancelRun, retryRun } from "./command.ts";
import { dispatch } from "./dispatch.ts";
import { add, type Draft, once, replaceEffect, runOf, see, tell } from "./draft.ts";

export type Concern = "ours" | "not-ours" | "again";

/** Whether the event asks anything of us. Most of what is said where people talk does not. */
export function concern(thread: Thread | null, event: PersonEvent, rules: Rules): Concern {
  if (event.by.bot) return "not-ours";
  switch (event.kind) {
    case "command":
      return "ours";
    case "label":
      if (labelDefaults(rules, event.label) === undefined) return "not-ours";
      return thread !== null && cameAnotherWay(thread, event) ? "not-ours" : "ours";
    case "button":
      // The card was posted, but where it stands is not written down yet.
      return thread === null && event.old !== true ? "again" : "ours";
    case "reply": {
      if (isAside(visible(event.text))) return "not-ours";
      // A thread begun here now would take the place away from the one whose card stands above.
      if (thread === null && event.underOurs) return "again";
      if (event.mention) return "ours";
      if (thread === null) return "not-ours";
      if (thread.muted || rules.replies === "mention") return "not-ours";
      if (thread.mutedUntil && isBefore(event.at, thread.mutedUntil)) return "not-ours";
      const [waiting] = thread.waiting;
      const asked = waiting === undefined ? [] : ["at" in waiting ? waiting.at : null];
      // The request that came first need not be the one that was made first.
      const since = thread.runs.length > 0 ? thread.runs.map(({ askedAt }) => askedAt) : asked;
      // Said before any run was asked for: it is part of the prompt, not an answer to it.
      const isEarlier = since.every((at) => at !== null && isBefore(event.at, at));
      return isEarlier ? "not-ours" : "ours";
    }
    default:
      return event satisfies never;
  }
}

const isBefore = (one: string, other: string): boolean => Date.parse(one) < Date.parse(other);

/** How far apart the two times that a platform gives for one label may be. */
const sameLabelMs = 60_000;
const labelKey = ({ label, recovered }: LabelEvent, way: boolean): string =>
  `label ${(recovered === true) === way ? "read back" : "delivered"} ${label.toLowerCase()} `;

/** A label that was read back has another id than its delivery; only the time tells that they are one. */
const cameAnotherWay = (thread: Thread, event: LabelEvent): boolean => {
  const key = labelKey(event, false);
  return thread.said.some(
    (said) =>
      said.startsWith(key) &&
      Math.abs(Date.parse(said.slice(key.length)) - Date.parse(event.at)) <= sameLabelMs,
  );
};

/** Takes the event in, once. It waits, in order, while it is unknown what somebody may do. */
export function takeIn(draft: Draft, event: PersonEvent): void {
  see(draft, event);
  if (event.kind === "label") once(draft, `${labelKey(event, true)}${event.at}`);
  if (draft.thread.waiting.length === 0 && verdict(draft.rules, event.by, event.scope).kind !== "ask") {
    return apply(draft, event);
  }
  draft.thread.waiting = [...draft.thread.waiting, event];
  askPermission(draft, event);
}

function askPermission(draft: Draft, event: PersonEvent): void {
  if (verdict(draft.rules, event.by, event.scope).kind !== "ask" || event.place === null) return;
  const asked = draft.thread.effects.some(
    (effect) => effect.kind === "permission" && effect.person.id === event.by.id,
  );
  if (!asked) add(draft, event.id, { kind: "permission", at: event.place, person: event.by });
}

export function permissionKnown(draft: Draft, person: Person, permission: Permission): void {
  draft.thread.waiting = draft.thread.waiting.map((event) =>
    event.by.id === person.id ? { ...event, by: { ...event.by, permission } } : event,
  );
  drain(draft);
}

/** The platform would not say: nothing that needs the permission happens, and its author hears why. */
export function permissionUnknown(draft: Draft, person: Person, reason: string): void {
  const theirs = draft.thread.waiting.filter((event) => event.by.id === person.id);
  draft.thread.waiting = draft.thread.waiting.filter((event) => event.by.id !== person.id);
  const [first] = theirs;
  if (first !== undefined) {
    tell(
      draft,
      first,
      noteView(`I could not find out what you may do here, so I did nothing: ${reason}`, "bad"),
    );
  }
  drain(draft);
}

function drain(draft: Draft): void {
  for (;;) {
    const [next, ...rest] = draft.thread.waiting;
    if (next === undefined || verdict(draft.rules, next.by, next.scope).kind === "ask") return;
    draft.thread.waiting = rest;
    apply(draft, next);
  }
}

function apply(draft: Draft, event: PersonEvent): void {
  const allowed = verdict(draft.rules, event.by, event.scope);
  if (allowed.kind === "no") return refuse(draft, event, allowed.reason);
  if (allowed.kind !== "yes") return;
  switch (event.kind) {
    case "command": {
      const parsed = parseCommand(event.text);
      return parsed.ok
        ? applyCommand(draft, event, parsed.command)
        : tell(draft, event, problemView(parsed.problem));
    }
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

/**
 * Told privately each time; where it can't be private, once, so that nobody can make us talk all day. A plain
 * reply asked for nothing: it is marked, and why is said once a place.
 */
function refuse(draft: Draft, event: PersonEvent, reason: string): void {
  if (event.kind === "reply" && !event.mention) {
    add(draft, event.id, { kind: "react", at: event.place, message: event.message, reaction: "refused" });
    if (once(draft, "refused replies")) tell(draft, event, notPassedOnView(reason));
    return;
  }
  const secret = "answerVia" in event && event.answerVia !== undefined;
  if (secret || once(draft, `refused ${event.by.id}`)) tell(draft, event, refusedView(reason));
}

function applyReply(draft: Draft, event: ReplyEvent): void {
  const latest = currentRun(draft.thread);
  if (event.files && (event.mention || (latest !== undefined && !draft.thread.muted)))
    leaveFiles(draft, event);
  if (event.mention) {
    const parsed = parseMention(event.text);
    if (parsed !== null) {
      return parsed.ok
        ? applyCommand(draft, event, parsed.command)
        : tell(draft, event, problemView(parsed.problem));
    }
    if (latest === undefined || latest.failed !== null) {
      return applyCommand(draft, event, { kind: "run", prompt: event.text.trim(), flags: {} });
    }
  }
  // It may have been muted while the event waited.
  if (latest === undefined || (draft.thread.muted && !event.mention)) return;
  if (latest.failed !== null) {
    if (once(draft, `no run ${latest.dispatch} ${event.by.id}`)) {
      tell(
        draft,
        event,
        noteView("No run is here that this could be passed on to. `retry` asks for it again."),
      );
    }
    return;
  }
  if (visible(event.text) !== "") followUp(draft, event, latest);
}

/** The agent is told words only. Why a message had no effect, or less than meant, is said once. */
function leaveFiles(draft: Draft, event: ReplyEvent): void {
  if (visible(event.text) === "") {
    add(draft, event.id, { kind: "react", at: event.place, message: event.message, reaction: "refused" });
  }
  if (once(draft, `files ${event.by.id}`)) {
    tell(draft, event, noteView("Only words are passed on to the agent; files stay among people."));
  }
}

function followUp(draft: Draft, event: ReplyEvent, record: RunRecord): void {
  const { place, message, by } = event;
  const id = add(draft, event.id, {
    kind: "follow-up",
    dispatch: record.dispatch,
    message: event.text,
    from: { place, message, by },
  });
  const effect = draft.thread.effects.find((pending) => pending.id === id);
  if (effect?.kind === "follow-up") {
    replaceEffect(draft, { ...effect, message: followUpOf(event.text, by, id) });
  }
}

function applyButton(draft: Draft, event: ButtonEvent): void {
  const record = runOf(draft, event.dispatch);
  if (record === undefined)
    return tell(
      draft,
      event,
      noteView("That card is out of date: nothing is remembered of its run any more."),
    );
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
  if (draft.thread.runs.some(isAtWork)) {
    return tell(
      draft,
      event,
      noteView("A run is already at work here. Comment to steer it, or `/agent cancel` it."),
    );
  }
  dispatch(draft, event, {
    words: event.subject.pullRequest
      ? "Bring the pull request that is quoted below to the point where it can be merged."
      : "Resolve the issue that is quoted below.",
    asked: event.subject.title,
    flags: {},
    label: event.label,
    subject: event.subject,
    withContext: true,
  });
}
