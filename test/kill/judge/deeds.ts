/** Judges the result of each deed, and the messages that people got about it. */
import type { Deed } from "#test/kill/deeds/deeds.ts";
import { type Outside, placesOf } from "#test/kill/outside.ts";
import { followUpsOf } from "./runs.ts";
import type { Wrong } from "./violation.ts";

export function judgeDeeds(deeds: readonly Deed[], outside: Outside, wrong: Wrong): void {
  const runs = new Set(outside.runs.map(({ dispatch }) => dispatch));
  const arrived = Map.groupBy(outside.runs.flatMap(followUpsOf), (event) => event);
  for (const [event, times] of arrived) {
    if (times.length > 1) wrong("a follow-up arrives once", `${event}: ${times.length} times`);
    const deed = deeds.find((each) => each.event === event);
    if (deed === undefined) wrong("follow-ups are asked for", `nobody said ${event}`);
    else if (!deed.permitted) wrong("only permitted people steer", `${deed.by} did: ${event}`);
    else if (deed.intent !== "follow-up") wrong("follow-ups are asked for", `a ${deed.kind}: ${event}`);
  }
  for (const deed of deeds) {
    const event = deed.event ?? "";
    const hasArrived = arrived.has(event);
    if (hasArrived) judgeMark(outside, event, wrong);
    if (deed.kind.startsWith("forged")) {
      if (deed.ackedAt !== null) wrong("forged requests are refused", event);
      continue;
    }
    if (deed.ackedAt === null) continue;
    if (!deed.permitted) judgeRefusal(outside, deed, wrong);
    else if (deed.intent === "run" && !runs.has(event) && !madeByLabel(outside, deed)) {
      wrong("an acked request makes a run", `${deed.kind} ${event} made none`);
    } else if (deed.intent === "follow-up" && !hasArrived) {
      wrong("an acked follow-up arrives", `${deed.kind} ${event} did not`);
    } else judgeAnswer(outside, deed, wrong);
  }
  judgeWhispers(deeds, outside, wrong);
}

/** A label's run may come from another delivery, or from reading back. */
const madeByLabel = (outside: Outside, { kind, place }: Deed): boolean =>
  kind === "label" &&
  outside.runs.some(({ dispatch }) => place !== null && placesOf(outside, dispatch).includes(place));

function judgeMark({ reactions }: Outside, event: string, wrong: Wrong): void {
  const given = reactions.get(event) ?? [];
  if (given.join() !== "eyes") wrong("a follow-up that arrived is marked", `${event}: “${given.join()}”`);
}

const about = ({ posts }: Outside, event: string) => posts.filter(({ cause }) => cause === event);

/** On GitHub answers are public. Each person without permission is told so once in a place. */
function judgeRefusal(outside: Outside, deed: Deed, wrong: Wrong): void {
  if (deed.platform !== "github" || deed.event === null) return;
  const told = about(outside, deed.event);
  if (told.length > 1) wrong("a refusal is told once", `${deed.event}: ${told.length} times`);
  const before = outside.posts.some(
    ({ kind, place, text }) => kind === "tell" && place === deed.place && text.includes(`@${deed.by}`),
  );
  if (told.length === 0 && !before)
    wrong("no silence", `${deed.kind} ${deed.event}: ${deed.by} heard nothing`);
}

function judgeAnswer(outside: Outside, deed: Deed, wrong: Wrong): void {
  if (deed.platform !== "github" || deed.event === null) return;
  const told = about(outside, deed.event).filter(({ kind }) => kind === "tell");
  const most = deed.intent === "cancel" ? 2 : 1;
  if (told.length > most) wrong("an answer is told once", `${deed.event}: ${told.length} times`);
  if (deed.intent === "answer" && told.length === 0) {
    wrong("no silence", `${deed.kind} ${deed.event} was not answered`);
  }
  const marked = (outside.reactions.get(deed.event) ?? []).length > 0;
  if (deed.intent === "cancel" && told.length === 0 && !marked) {
    wrong("no silence", `${deed.kind} ${deed.event} was not answered`);
  }
}

/** Slack's ephemeral messages don't name the request that they answer, so they are counted. */
function judgeWhispers(deeds: readonly Deed[], { whispers }: Outside, wrong: Wrong): void {
  const due = deeds.filter(
    ({ platform, event, intent, ackedAt, permitted }) =>
      platform === "slack" &&
      ackedAt !== null &&
      event?.startsWith("slack:interaction:") &&
      (intent === "answer" || intent === "cancel" || !permitted),
  );
  for (const [by, asked] of Map.groupBy(due, (deed) => deed.by)) {
    const told = whispers[`U${by.toUpperCase()}`] ?? [];
    if (told.length < asked.length) {
      wrong("no silence", `${by} asked ${asked.length} times, and heard ${told.length} answers`);
    }
    for (const { kind, word } of asked) {
      if (!kind.includes("mistyped")) continue;
      if (!told.some((text) => text.includes(word))) wrong("no silence", `${by} was not told of ${word}`);
    }
  }
}
