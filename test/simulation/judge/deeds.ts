/** Judges the bot's reaction to each deed. */
import type { ChatPlatform } from "#test/simulation/world/chat.ts";
import { headline } from "#test/simulation/world/chat.ts";
import type { Deed } from "#test/simulation/world/deliveries.ts";
import { leftTrace, type Outside } from "#test/simulation/world/outside.ts";

export function checkDeeds(outside: Outside): void {
  for (const deed of outside.deeds) {
    const { event, acked, intent, permitted } = deed;
    const isTaken = isTakenIn(outside, deed);
    if (acked === "ignored" && !isTaken) checkIgnored(outside, deed);
    if (!isTaken) continue;
    if (intent === "nothing" || event.by.bot) {
      outside.wrong("what is not for the bot is left alone", `${event.id} was taken in`);
    } else if (permitted) checkEffect(outside, deed);
    else checkRefused(outside, deed);
    checkTold(outside, deed);
  }
}

/** So far back missed events are searched for. */
const searchedMs = 15 * 60_000;

/** True for what the bot finds when it reads a platform back, although no delivery of it arrived. */
function isReadBack(outside: Outside, deed: Deed): boolean {
  const { event, acked, intent } = deed;
  if (outside.world.machine.weather.catchUpMs === null || acked !== null) return false;
  if (intent === "nothing" || event.by.bot || event.kind === "button" || event.place === null) return false;
  if (!isSearched(outside, deed)) return false;
  // These stand-ins delete a second card even if somebody has replied to it, which takes its thread away.
  const { posted } = platformOf(outside, deed);
  if (posted.some(({ id, deletedAt }) => deletedAt !== null && event.place?.endsWith(`:${id}`))) return false;
  if (event.kind !== "reply" || event.mention) return true;
  if (outside.world.rules.replies === "mention" || isMuted(outside, deed)) return false;
  return requestsBefore(outside, deed).some(
    (request) =>
      isTakenIn(outside, request) && (isSearched(outside, request) || canJoin(outside, deed, request)),
  );
}

/** True if a search covers the deed: nothing is read back from before the bot's first one. */
function isSearched({ world, deeds }: Outside, { event, saidAt = 0 }: Deed): boolean {
  const { platform } = event.by;
  const since = world.disk.notedAt.get(`heard-until-${platform}`) ?? Number.POSITIVE_INFINITY;
  if (saidAt < since) return false;
  // Until a search has kept the platform's time, the bot has its own clock alone.
  const keptAt = world.disk.notedAt.get(`kept-${platform}`) ?? Number.POSITIVE_INFINITY;
  const setBackMs = world.machine.weather.clocks.bot.steps
    .filter(({ atMs, byMs }) => byMs < 0 && atMs > since - world.machine.time.startMs)
    .reduce((sum, { byMs }) => sum - byMs, 0);
  if (saidAt < keptAt && setBackMs > searchedMs) return false;
  // What belongs to a document that can't be read can't be saved, and is searched for as long as anything else.
  const thread = world.disk.lead(event.place ?? "");
  if (world.disk.wasUnreadable.some(({ id, until }) => id === thread && saidAt + searchedMs < until))
    return false;
  // The bot is told of Slack's channels, but nobody reads a repository that has never sent anything.
  return (
    platform === "slack" ||
    deeds.some(
      (other) =>
        other.event.scope === event.scope && other.acked === "saved" && (other.ackedAt ?? saidAt) < saidAt,
    )
  );
}

const isTakenIn = (outside: Outside, deed: Deed): boolean =>
  deed.acked === "saved" || leftTrace(outside, deed) || isReadBack(outside, deed);

/** What asked for a run in the reply's place before it: a message from before the request is part of its prompt. */
const requestsBefore = (
  { deeds, posted }: Outside,
  { event: { place }, saidAt = 0 }: Deed,
): readonly Deed[] =>
  deeds.filter(({ event, intent, permitted, saidAt: askedAt = 0 }) => {
    if (!permitted || askedAt >= saidAt) return false;
    if (intent === "dispatch" && event.place === place) return true;
    return posted.some((one) => one.kind === "card" && one.dispatch === event.id && one.place === place);
  });

/** True if somebody muted the place, perhaps after the reply, but faster. */
const isMuted = ({ deeds }: Outside, { event: { place } }: Deed): boolean =>
  deeds.some(({ event, verb, permitted }) => event.place === place && verb === "mute" && permitted);

const platformOf = ({ world }: Outside, { event }: Deed): ChatPlatform =>
  event.by.platform === "slack" ? world.slack : world.github;

const ofDeed = (deed: Deed, effect: string): boolean => effect.startsWith(`${deed.event.id}/`);

/** Messages that were posted because of the deed, and those that the platform refused. */
function traces(outside: Outside, deed: Deed) {
  const posted = outside.posted.filter(
    ({ kind, dispatch, effect }) =>
      (kind === "card" && dispatch === deed.event.id) || (kind !== "card" && ofDeed(deed, effect)),
  );
  const { refused } = platformOf(outside, deed);
  const refusedHere = [...refused].filter((effect) => ofDeed(deed, effect));
  return { posted, refused: refusedHere };
}

/** For so long a process remembers a reply that overtook its request. */
const rememberedMs = 10 * 60_000;
/** For so long it may have to do with joining the two, where the disk fails. */
const joiningMs = 60_000;

/**
 * True if the bot can join the ignored reply to its request, which was said before it: because the request was saved
 * first, because the process remembers the reply, or because it is read back.
 */
function canJoin(outside: Outside, reply: Deed, request: Deed): boolean {
  const { world } = outside;
  const { saidAt = 0, triedAt } = reply;
  const { ackedAt: savedAt } = request;
  if (request.acked !== "saved" || savedAt === null || triedAt === null) return false;
  if (savedAt < triedAt) return true;
  if (world.machine.weather.catchUpMs === null) {
    const isSameProcess = world.lives.some(
      ({ bornAt, diedAt }) => bornAt <= triedAt && savedAt + joiningMs < (diedAt ?? Number.POSITIVE_INFINITY),
    );
    return isSameProcess && savedAt < triedAt + rememberedMs;
  }
  if (!isSearched(outside, reply)) return false;
  return isSearched(outside, request) || savedAt < saidAt + searchedMs;
}

/**
 * Two webhooks deliver one label under two ids, at almost the same time of GitHub, whose clock may have been set back:
 * who labels twice within it labels once.
 */
const isSameLabel = (outside: Outside, one: Deed, { event }: Deed): boolean =>
  isTakenIn(outside, one) &&
  one.event.kind === "label" &&
  event.kind === "label" &&
  one.event.id !== event.id &&
  one.event.by.id === event.by.id &&
  one.event.place === event.place &&
  Math.abs(Date.parse(one.event.at) - Date.parse(event.at)) <= 2_000;

function checkIgnored(outside: Outside, deed: Deed): void {
  const { event, intent } = deed;
  if (intent === "nothing" || event.by.bot) return;
  if (event.kind === "label" && outside.deeds.some((other) => isSameLabel(outside, other, deed))) return;
  if (event.kind !== "reply" || event.mention) {
    return outside.wrong("no silence", `${event.id} was acked and ignored`);
  }
  if (outside.world.rules.replies === "mention") return;
  if (isMuted(outside, deed)) return;
  const asked = requestsBefore(outside, deed).some((request) => canJoin(outside, deed, request));
  if (asked)
    outside.wrong("no silence", `${event.id} was ignored although a run was asked for there before it`);
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
      if (outside.deeds.some((one) => leftTrace(outside, one) && isSameLabel(outside, one, deed))) return;
      if (intent === "say" && (!isFollowUp(outside, deed) || wasMuted(outside, deed))) return;
      return wrong("no silence", `${event.id} was taken in, and nothing came of it`);
    }
    case "nothing":
      return;
    default:
      return intent satisfies never;
  }
}

/** A retry is not named after its event. In a locked place only its attempted posts show it. */
const retried = (outside: Outside, deed: Deed): boolean =>
  [
    ...outside.runsOf.keys(),
    ...outside.posted.map(({ effect }) => effect),
    ...platformOf(outside, deed).refused,
  ].some((name) => name.includes("#retry-"));

/** True if a run may have been asked for before in the place; where the bot may not post, none begins. */
const isFollowUp = (outside: Outside, deed: Deed): boolean =>
  // What waited behind a request that came to nothing is remembered like what was ignored.
  requestsBefore(outside, deed).some(
    (request) => deed.acked !== "saved" || hadCard(outside, request, deed) || canJoin(outside, deed, request),
  ) && !platformOf(outside, deed).isShut(deed.event.place ?? deed.event.scope);

/** True if the request's card was there when the reply was delivered. */
const hadCard = ({ posted }: Outside, { event: { id } }: Deed, { triedAt }: Deed): boolean =>
  posted.some((one) => one.kind === "card" && one.dispatch === id && one.at < (triedAt ?? 0));

/** True if the place was muted before, even if both events were still waiting for a permission. */
const wasMuted = ({ deeds }: Outside, { event, saidAt = 0 }: Deed): boolean =>
  deeds.some(
    (other) =>
      other.verb === "mute" &&
      other.permitted &&
      other.triedAt !== null &&
      other.event.place === event.place &&
      (other.saidAt ?? 0) < saidAt,
  );

/** A place is told once that it has no run that messages could be passed on to. */
const saidOnce = ({ posted }: Outside, { event }: Deed): boolean =>
  posted.some(
    ({ place, view }) => place === event.place && headline(view).startsWith("Not sent: no run is active"),
  );

function checkRefused(outside: Outside, deed: Deed): void {
  const { event } = deed;
  const { posted, refused } = traces(outside, deed);
  if (posted.length > 0 || refused.length > 0) return;
  const before = outside.posted.some(
    ({ kind, place, person }) => kind === "tell" && place === event.place && person === event.by.id,
  );
  // Each refused reply gets a reaction; its place gets the reason once.
  if (event.kind === "reply" && platformOf(outside, deed).reactions.get(event.message)?.has("refused"))
    return;
  const secret = "answerVia" in event && event.answerVia !== undefined;
  if (!secret && (before || platformOf(outside, deed).isShut(event.place ?? event.scope))) return;
  outside.wrong("no silence", `${event.id} was refused, and its author was not told`);
}

/** A message that is marked as taken must have reached the agent. */
function checkMark(outside: Outside, deed: Deed): void {
  const { event, intent, token } = deed;
  if (intent !== "say" || token === null || !("message" in event)) return;
  if (
    !platformOf(outside, deed)
      .reactions.get(event.message ?? "")
      ?.has("taken")
  )
    return;
  if (outside.world.service.heard.some(({ text }) => text.includes(` ${token} `))) return;
  outside.wrong("a follow-up that is marked has arrived", `${event.id} is marked, and reached nobody`);
}

/** A person is told each thing once, and a follow-up that arrived is marked. */
function checkTold(outside: Outside, deed: Deed): void {
  const platform = platformOf(outside, deed);
  // Replies that a place refused are sent privately, each by itself.
  const tells = outside.posted.filter(
    ({ kind, effect }) => kind === "tell" && ofDeed(deed, effect) && !effect.includes("/reply/"),
  );
  const different = new Set(tells.map(({ effect }) => effect));
  // While the run's own thread can't be read, nothing shows whether the command has been taken there.
  const { disk } = outside.world;
  const isHidden = disk.wasUnreadable.some(({ id }) =>
    disk.threads.get(id)?.runs.some(({ runId }) => runId !== null && runId === deed.target),
  );
  const most = deed.verb === "cancel" || isHidden ? 2 : 1;
  if (different.size > most) {
    outside.wrong("a thing takes effect once", `${deed.event.id} was answered ${different.size} times`);
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
