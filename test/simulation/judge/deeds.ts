/** Each thing that people did, and what they heard of it. */
import type { ChatPlatform } from "#test/simulation/world/chat.ts";
import { headline } from "#test/simulation/world/chat.ts";
import type { Deed } from "#test/simulation/world/deliveries.ts";
import type { Outside } from "#test/simulation/world/outside.ts";

export function checkDeeds(outside: Outside): void {
  for (const deed of outside.deeds) {
    const { event, acked, intent, permitted } = deed;
    const saved = outside.seen.has(event.id);
    if (acked === "saved" && !saved)
      outside.wrong("saved before acked", `${event.id} was acked, and is lost`);
    if (acked === "ignored" && !saved) checkIgnored(outside, deed);
    if (!saved) continue;
    if (intent === "nothing" || event.by.bot) {
      outside.wrong("what is not for the bot is left alone", `${event.id} was taken in`);
    } else if (permitted) checkEffect(outside, deed);
    else checkRefused(outside, deed);
    checkTold(outside, deed);
  }
}

const platformOf = ({ world }: Outside, { event }: Deed): ChatPlatform =>
  event.by.platform === "slack" ? world.slack : world.github;

const ofDeed = (deed: Deed, effect: string): boolean => effect.startsWith(`${deed.event.id}/`);

/** What was posted because of the deed, and what the platform refused to post. */
function traces(outside: Outside, deed: Deed) {
  const posted = outside.posted.filter(
    ({ kind, dispatch, effect }) =>
      (kind === "card" && dispatch === deed.event.id) || (kind !== "card" && ofDeed(deed, effect)),
  );
  const { refused } = platformOf(outside, deed);
  const refusedHere = [...refused].filter((effect) => ofDeed(deed, effect));
  return { posted, refused: refusedHere };
}

function checkIgnored(outside: Outside, deed: Deed): void {
  const { event, intent } = deed;
  if (intent === "nothing" || event.by.bot) return;
  if (event.kind !== "reply" || event.mention) {
    return outside.wrong("no silence", `${event.id} was acked and ignored`);
  }
  if (outside.world.rules.replies === "mention") return;
  const inPlace = outside.deeds.filter((other) => other.event.place === event.place);
  if (inPlace.some(({ verb }) => verb === "mute")) return;
  const asked = inPlace.some(
    (other) =>
      other.intent === "dispatch" &&
      other.permitted &&
      other.acked === "saved" &&
      other.ackedAt !== null &&
      deed.triedAt !== null &&
      other.ackedAt < deed.triedAt &&
      // What was said before the run was asked for is no answer to it.
      other.event.at < event.at,
  );
  if (asked) outside.wrong("no silence", `${event.id} was ignored although a run was asked for there before`);
}

function checkEffect(outside: Outside, deed: Deed): void {
  const { runsOf, followUps, world, wrong } = outside;
  const { event, intent, verb } = deed;
  const runs = runsOf.get(event.id) ?? [];
  const arrived = followUps.filter(({ effect }) => ofDeed(deed, effect));
  const { posted, refused } = traces(outside, deed);
  const told = posted.some(({ kind }) => kind !== "card") || refused.length > 0;
  switch (intent) {
    case "dispatch": {
      const cardRefused = refused.some((effect) => effect.includes("/card/"));
      if (runs.length === 0 && !world.service.refused.has(event.id) && !cardRefused) {
        wrong("an accepted request makes exactly one run", `${event.id} made none`);
      }
      if (runs.length === 0 && !told) wrong("no silence", `${event.id} made no run, and nobody was told`);
      if (runs.length === 1 && event.place === null && cardRefused) {
        wrong("a run has a place", `${event.id} made a run that is told of nowhere`);
      }
      return;
    }
    case "talk":
    case "say":
    case "label":
    case "control":
    case "wrong": {
      if (intent === "wrong" && runs.length > 0) {
        wrong("runs are asked for", `${event.id} was mistyped and made one`);
      }
      const isRetry = verb === "retry" && retried(outside, deed);
      const reacted =
        "message" in event &&
        event.message !== undefined &&
        (platformOf(outside, deed).reactions.get(event.message)?.size ?? 0) > 0;
      const lost = [...world.service.refused].some((text) => text.includes(` ${event.id}/follow-up/`));
      if (lost && arrived.length === 0 && !told)
        wrong("no silence", `${event.id} did not reach the agent, and nobody was told`);
      if (runs.length > 0 || arrived.length > 0 || posted.length > 0 || refused.length > 0) return;
      if (isRetry || reacted || saidOnce(outside, deed)) return;
      if (intent === "say" && (!wasAskedFor(outside, deed) || wasMuted(outside, deed))) return;
      return wrong("no silence", `${event.id} was taken in, and nothing came of it`);
    }
    case "nothing":
      return;
    default:
      return intent satisfies never;
  }
}

/** A run that is asked for again is not named after whoever did; where its place is closed, only tries show it. */
const retried = (outside: Outside, deed: Deed): boolean =>
  [
    ...outside.runsOf.keys(),
    ...outside.posted.map(({ effect }) => effect),
    ...platformOf(outside, deed).refused,
  ].some((name) => name.includes("#retry-"));

/** A run was asked for in the deed's place before: what is said there then is said to the agent. */
const wasAskedFor = (outside: Outside, { event, ackedAt, triedAt }: Deed): boolean =>
  outside.deeds.some((other) => {
    const cards = outside.posted.filter(
      ({ kind, dispatch, place }) => kind === "card" && dispatch === other.event.id && place === event.place,
    );
    if (!other.permitted || other.ackedAt === null || ackedAt === null || triedAt === null) return false;
    // A run that was started elsewhere is here as soon as it has a card.
    if (other.verb === "attach") return cards.some(({ at }) => at < triedAt);
    return other.intent === "dispatch" && cards.length > 0 && other.ackedAt < ackedAt;
  });

/** The place was muted before, perhaps while both still waited for the platform to tell who may do what. */
const wasMuted = ({ deeds, seen }: Outside, { event }: Deed): boolean =>
  deeds.some(
    ({ verb, permitted, event: other }) =>
      verb === "mute" &&
      permitted &&
      seen.has(other.id) &&
      other.place === event.place &&
      other.at < event.at,
  );

/** That there is no run to pass anything on to is said once in a place. */
const saidOnce = ({ posted }: Outside, { event }: Deed): boolean =>
  posted.some(({ place, view }) => place === event.place && headline(view).startsWith("Not sent: no run is active"));

function checkRefused(outside: Outside, deed: Deed): void {
  const { event } = deed;
  const { posted, refused } = traces(outside, deed);
  if (posted.length > 0 || refused.length > 0) return;
  const before = outside.posted.some(
    ({ kind, place, person }) => kind === "tell" && place === event.place && person === event.by.id,
  );
  // A plain reply is marked; why is said once in a place.
  if (event.kind === "reply" && platformOf(outside, deed).reactions.get(event.message)?.has("refused"))
    return;
  const secret = "answerVia" in event && event.answerVia !== undefined;
  if (!secret && (before || platformOf(outside, deed).isShut(event.place ?? event.scope))) return;
  outside.wrong("no silence", `${event.id} was refused, and its author was not told`);
}

/** What is marked as taken has reached the agent. */
function checkMark(outside: Outside, deed: Deed): void {
  const { event, intent, token } = deed;
  if (intent !== "say" || token === null || !("message" in event)) return;
  if (
    !platformOf(outside, deed)
      .reactions.get(event.message ?? "")
      ?.has("taken")
  )
    return;
  if (outside.world.service.heard.some((text) => text.includes(` ${token} `))) return;
  outside.wrong("a follow-up that is marked has arrived", `${event.id} is marked, and reached nobody`);
}

/** Nobody hears the same thing twice. */
function checkTold(outside: Outside, deed: Deed): void {
  const platform = platformOf(outside, deed);
  // What a place refused is told privately instead, each for itself.
  const tells = outside.posted.filter(
    ({ kind, effect }) => kind === "tell" && ofDeed(deed, effect) && !effect.includes("/reply/"),
  );
  const different = new Set(tells.map(({ effect }) => effect));
  const most = deed.verb === "cancel" ? 2 : 1;
  if (different.size > most) {
    outside.wrong("a thing takes effect once", `${deed.event.id} was answered ${different.size} times`);
  }
  for (const effect of different) {
    const times = tells.filter((posted) => posted.effect === effect).length;
    // What is private can't be looked up.
    const mayRepeat = platform.name === "slack" && platform.unsure.has(effect);
    if (times > 1 && !mayRepeat) outside.wrong("a message is posted once", `${effect}: ${times} times`);
  }
  const { event } = deed;
  checkMark(outside, deed);
  const arrived = outside.followUps.some(({ effect }) => ofDeed(deed, effect));
  if (!arrived || !("message" in event) || event.message === undefined || platform.isShut(event.place ?? ""))
    return;
  const reactions = platform.reactions.get(event.message);
  if (!reactions?.has("taken") || reactions.has("refused")) {
    outside.wrong(
      "a follow-up that arrived is marked",
      `${event.id}: ${[...(reactions ?? [])].join() || "not"}`,
    );
  }
}
