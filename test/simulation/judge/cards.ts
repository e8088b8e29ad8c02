/** Judges what people see of each run: cards, labels, and replies that tell its end. */
import { isEnded } from "#core/run.ts";
import type { View } from "#core/view.ts";
import { headline, type Posted } from "#test/simulation/world/chat.ts";
import { firstOf, type Outside } from "#test/simulation/world/outside.ts";
import { answerMark, episodeLink, type SimulatedRun, wordOn } from "#test/simulation/world/simulated-run.ts";

const lines: Readonly<Record<string, string>> = {
  QUEUED: "Queued",
  PENDING: "Getting ready",
  CLAIMED: "Getting ready",
  INPROGRESS: "In progress",
  BLOCKED: "Needs your answer",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Failed: the agent service had an error",
  CANCELLED: "Cancelled",
};

export function checkCards(outside: Outside): void {
  const { world, posted, runsOf, deeds, wrong } = outside;
  const cards = posted.filter(({ kind }) => kind === "card");
  const byCard = new Map<string, Posted>();
  for (const card of cards) {
    const key = `${card.dispatch} in ${card.place}`;
    if (byCard.has(key)) wrong("a run has one card in each place", key);
    byCard.set(key, card);
  }
  const placesOf = new Map<string, string[]>();
  for (const { dispatch, place } of byCard.values()) {
    if (dispatch !== null) placesOf.set(dispatch, [...(placesOf.get(dispatch) ?? []), place]);
  }
  for (const [dispatch, runs] of runsOf) {
    const deed = deeds.find(({ event }) => event.id === firstOf(dispatch));
    const at = deed?.event.place ?? null;
    const isShut = at !== null && (world.slack.isShut(at) || world.github.isShut(at));
    if (runs.length > 0 && !placesOf.has(dispatch) && !isShut)
      wrong("a run has a card", `${dispatch} has none`);
  }
  for (const card of byCard.values()) {
    const dispatch = card.dispatch ?? "";
    const attached = deeds.find(({ event, verb }) => event.id === dispatch && verb === "attach")?.target;
    const run = runsOf.get(dispatch)?.[0] ?? world.service.runs.get(attached ?? "");
    if (run === undefined) {
      if (headline(card.view) !== "Not started") {
        wrong("a card shows the last state", `${dispatch} has no run, yet shows “${headline(card.view)}”`);
      }
      continue;
    }
    checkCard(outside, card, run);
    checkEnds(outside, card, run);
  }
  checkReplies(outside);
  checkLabels(outside);
}

const textOf = (view: View): string => JSON.stringify([view.details, view.headline]);

function checkCard({ wrong }: Outside, card: Posted, run: SimulatedRun): void {
  const { state } = wordOn(run);
  const expected = lines[state] ?? `State: ${state}`;
  const shown = headline(card.view);
  const name = `${run.id} (${card.dispatch})`;
  if (shown !== expected)
    wrong("a card shows the last state", `${name} is ${state}, its card says “${shown}”`);
  const text = textOf(card.view);
  if ((isEnded(state) || state === "BLOCKED") && !text.includes(episodeLink(run.id, run.episodes.length))) {
    wrong("a card shows the last state", `${name} does not show its last links`);
  }
  if (text.includes("Waiting: ")) wrong("a card shows the last state", `${name} still says that it waits`);
}

/** The longest time between two looks at a run if nothing fails. */
const slowestLookMs = 3 * 60_000;

/** Episodes that lasted long enough to be seen by the bot, in histories in which nothing fails. */
function plainEpisodes({ world }: Outside, card: Posted, run: SimulatedRun): ReadonlySet<number> {
  const plain = new Set<number>();
  if (!world.machine.weather.calm) return plain;
  let episode = 0;
  for (const [index, word] of run.words.entries()) {
    if (!isEnded(word.run.state) && word.run.state !== "BLOCKED") continue;
    episode += 1;
    const until = run.words[index + 1]?.at ?? word.at;
    if (word.at > card.at && until - word.at > slowestLookMs) plain.add(episode);
  }
  return plain;
}

/**
 * Each end or BLOCKED is announced at most once; the last one, and those that were visible long enough, exactly
 * once.
 */
function checkEnds(outside: Outside, card: Posted, run: SimulatedRun): void {
  const { posted, wrong } = outside;
  const plain = plainEpisodes(outside, card, run);
  const { state } = wordOn(run);
  const replies = posted.filter(({ kind, place }) => kind === "reply" && place === card.place);
  for (const [index, ended] of run.episodes.entries()) {
    const episode = index + 1;
    const link = `"${episodeLink(run.id, episode)}"`;
    const told = replies.filter(({ view }) => textOf(view).includes(link));
    const what = `${run.id} ${ended} (episode ${episode}) in ${card.place}: ${told.length} times`;
    if (told.length > 1) wrong("an end is told once", what);
    const isLast = episode === run.episodes.length && (isEnded(state) || state === "BLOCKED");
    // A second end with the same answer soon after the first one looks like a change of the first.
    const isSame = run.episodes[index - 1] === ended && run.answers[index - 1] === run.answers[index];
    if ((isLast || plain.has(episode)) && told.length === 0 && !isSame) wrong("an end is told", what);
    for (const { view } of told) {
      if (view.answer === undefined) continue;
      const marks = run.episodes.map((_, at) => answerMark(run.id, at + 1));
      if (marks.indexOf(view.answer) < index) {
        wrong("an end is told with its answer", `${what}, with “${view.answer}”`);
      }
    }
  }
}

function checkReplies({ posted, wrong }: Outside): void {
  const seen = new Set<string>();
  for (const { kind, effect } of posted) {
    if (kind !== "reply") continue;
    if (seen.has(effect)) wrong("a message is posted once", effect);
    seen.add(effect);
  }
}

const labels: Readonly<Record<string, string>> = {
  QUEUED: "agent:queued",
  PENDING: "agent:queued",
  CLAIMED: "agent:queued",
  BLOCKED: "agent:blocked",
  SUCCEEDED: "agent:done",
  FAILED: "agent:failed",
  ERROR: "agent:failed",
  CANCELLED: "agent:failed",
};

function checkLabels({ world, wrong }: Outside): void {
  for (const thread of world.disk.threads.values()) {
    const atWork = (runId: string | null): boolean => {
      const run = world.service.runs.get(runId ?? "");
      return run !== undefined && !isEnded(wordOn(run).state);
    };
    // A run at work goes before an ended one, and either before one that was never started.
    const latest =
      thread.runs.findLast(({ runId }) => atWork(runId)) ??
      thread.runs.findLast(({ failed }) => failed === null) ??
      thread.runs.at(-1);
    if (latest === undefined) continue;
    const run = latest.runId === null ? undefined : world.service.runs.get(latest.runId);
    const expected = run === undefined ? "agent:failed" : (labels[wordOn(run).state] ?? "agent:running");
    for (const place of thread.places) {
      if (!place.startsWith("github:") || world.github.isShut(place)) continue;
      const label = world.github.labels.get(place);
      if (label !== expected) wrong("a label shows the last state", `${place}: ${label}, not ${expected}`);
    }
  }
}
