/** Judges what people see of each run: cards, labels, and replies that tell its end. */
import type { View } from "#core/view.ts";
import { headline, type Posted } from "#test/simulation/world/chat.ts";
import { firstOf, type Outside } from "#test/simulation/world/outside.ts";
import {
  answerMark,
  episodeLink,
  isOver,
  type SimulatedRun,
  wordOn,
} from "#test/simulation/world/service/simulated-run.ts";
import { keptRun } from "./twins.ts";
import { visibleEpisodes } from "./visible.ts";

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
    const run = keptRun(outside, dispatch) ?? world.service.runs.get(attached ?? "");
    if (run === undefined) {
      if (headline(card.view) !== "Not started") {
        wrong("a card shows the last state", `${dispatch} has no run, yet shows “${headline(card.view)}”`);
      }
      continue;
    }
    checkCard(outside, card, run);
    checkEnds(outside, card, run);
  }
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
  if ((isOver(state) || state === "BLOCKED") && !text.includes(episodeLink(run.id, run.episodes.length))) {
    wrong("a card shows the last state", `${name} does not show its last links`);
  }
  if (text.includes("Waiting: ")) wrong("a card shows the last state", `${name} still says that it waits`);
}

/** Returns the replies that tell the run's `episode`th end or BLOCKED. */
const tellingOf = (replies: readonly Posted[], run: SimulatedRun, episode: number): readonly Posted[] =>
  replies.filter(({ view }) => textOf(view).includes(`"${episodeLink(run.id, episode)}"`));

/**
 * Each end or BLOCKED is announced at most once; the last one, those that were visible long enough, and those that
 * the bot found before its own follow-up, exactly once.
 */
function checkEnds(outside: Outside, card: Posted, run: SimulatedRun): void {
  const { posted, wrong } = outside;
  const plain = visibleEpisodes(outside.world, card, run);
  const { state } = wordOn(run);
  const replies = posted.filter(({ kind, place }) => kind === "reply" && place === card.place);
  for (const [index, ended] of run.episodes.entries()) {
    const episode = index + 1;
    const told = tellingOf(replies, run, episode);
    const what = `${run.id} ${ended} (episode ${episode}) in ${card.place}: ${told.length} times`;
    if (told.length > 1) wrong("an end is told once", what);
    const isLast = episode === run.episodes.length && (isOver(state) || state === "BLOCKED");
    if ((isLast || plain.has(episode) || run.found.has(episode)) && told.length === 0) {
      wrong("an end is told", what);
    }
    for (const { view } of told) {
      if (view.answer === undefined) {
        const { calm, outages } = outside.world.machine.weather;
        if (calm && outages.length === 0 && run.answers[index] !== "")
          wrong("an end is told with its answer", `${what}, without it`);
        continue;
      }
      const marks = run.episodes.map((_, at) => answerMark(run.id, at + 1));
      const of = marks.indexOf(view.answer);
      // Nothing shows the bot that an answer belongs to an earlier end, if it never saw that end nor one since.
      const sawEarlier = marks.some(
        (_, at) => at >= of && at < index && tellingOf(replies, run, at + 1).length > 0,
      );
      if (of < 0 || sawEarlier) {
        wrong("an end is told with its answer", `${what}, with “${view.answer}”`);
      }
    }
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
  for (const what of world.github.lostLabels()) wrong("people's labels stay", what);
  for (const thread of world.disk.threads.values()) {
    const atWork = (runId: string | null): boolean => {
      const run = world.service.runs.get(runId ?? "");
      return run !== undefined && !isOver(wordOn(run).state);
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
