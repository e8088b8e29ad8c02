/** Judges cards, labels and the replies that announce ends. */
import type { Deed } from "#test/kill/deeds/deeds.ts";
import { firstOf, type Outside, type Post, type SeenRun } from "#test/kill/outside.ts";
import { cancelsOf } from "./runs.ts";
import type { Wrong } from "./violation.ts";

const lines: Readonly<Record<string, string>> = {
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Failed: the agent service had an error",
  CANCELLED: "Cancelled",
};
const endings: Readonly<Record<string, string>> = {
  SUCCEEDED: "The run succeeded",
  FAILED: "The run failed",
  ERROR: "The run failed because the agent service had an error",
  CANCELLED: "The run was cancelled",
};
const labels: Readonly<Record<string, string>> = {
  SUCCEEDED: "agent:done",
  FAILED: "agent:failed",
  ERROR: "agent:failed",
  CANCELLED: "agent:failed",
};

/**
 * The bot may learn of a run's end before it knows that a follow-up arrived. The card then says that the run
 * continues, until the bot is sure that nothing more comes.
 */
const mayContinue = (run: SeenRun, isSettled: boolean): boolean =>
  !isSettled && run.said.filter(({ role }) => role === "user").length > 1;

export function judgePosts(deeds: readonly Deed[], outside: Outside, isSettled: boolean, wrong: Wrong): void {
  const { posts, runs } = outside;
  const effects = new Set<string>();
  for (const { effect, place, text } of posts) {
    if (effect === "") wrong("the bot's messages can be told apart", `in ${place}: ${text.slice(0, 200)}`);
    else if (effects.has(effect)) wrong("a message is posted once", `${effect} in ${place}`);
    effects.add(effect);
  }
  const cards = Map.groupBy(
    posts.filter(({ kind }) => kind === "card"),
    ({ cause }) => cause,
  );
  const known = new Set(runs.map(({ dispatch }) => dispatch));
  for (const dispatch of cards.keys()) {
    if (!known.has(dispatch)) wrong("a card stands for a run", `${dispatch} has a card and no run`);
  }
  for (const run of runs) {
    const own = cards.get(run.dispatch) ?? [];
    const [card] = own;
    if (card === undefined) wrong("a run has a card", `${run.dispatch} has none`);
    if (own.length > 1) wrong("a run has one card in each place", `${run.dispatch} has ${own.length}`);
    if (card === undefined) continue;
    judgeCard(card, run, isSettled, wrong);
    judgeEnds(outside, card.place, run, cancelsOf(outside, run, deeds), wrong);
  }
  judgeLabels(outside, cards, isSettled, wrong);
}

const headlineOf = (text: string): string => /\*([^*\n]+)\*/.exec(text.replaceAll("**", "*"))?.[1] ?? "";

function judgeCard({ text, place }: Post, run: SeenRun, isSettled: boolean, wrong: Wrong): void {
  const name = `${run.run_id} (${run.dispatch}) in ${place}`;
  const shown = headlineOf(text);
  const isExpected = shown === lines[run.state] || (shown === "Continuing" && mayContinue(run, isSettled));
  if (!isExpected) {
    wrong("a card shows the last state", `${name} is ${run.state}, its card says “${shown}”`);
  }
  if (!text.includes(run.run_id)) wrong("a card names its run", name);
  if (text.includes("Waiting: ")) wrong("a card shows the last state", `${name} still says that it waits`);
}

/** Each end is announced at most once with its own answer, and the last one exactly once. */
function judgeEnds(
  { posts }: Outside,
  place: string,
  run: SeenRun,
  cancels: readonly Deed[],
  wrong: Wrong,
): void {
  const told = posts.filter((post) => post.kind === "reply" && post.cause === run.dispatch);
  const name = `${run.run_id} (${run.dispatch}, ${run.state}) in ${place}`;
  // An answer that shows late is told alone.
  const ends = told.filter(({ text }) => !text.includes("answer came late"));
  const last = ends.at(-1);
  if (told.some((post) => post.place !== place)) wrong("an end is told where its card stands", name);
  if (!last?.text.includes(endings[run.state] ?? "?")) {
    return wrong("an end is told", `${name}: ${told.length} replies, the last “${last?.text.slice(0, 300)}”`);
  }
  // A turn ends once, even if the service was killed or the turn was cancelled before the agent began.
  const turns = new Set(run.said.filter(({ role }) => role !== "user").map(({ turn }) => turn)).size;
  const most = Math.max(1, turns + cancels.length);
  if (ends.length > most) wrong("an end is told once", `${name}: ${ends.length} replies, ${most} ends`);
  if (told.some(({ text }) => text.includes("The agent left no answer"))) {
    wrong("an end is told with its answer", `${name}: an answer is said to be missing`);
  }
  const times = run.begun.map((mark) => told.filter(({ text }) => text.includes(`mark:${mark}`)).length);
  if (times.some((count) => count > 1)) wrong("an answer is told once", `${name}: ${times.join()} times`);
  if (run.state === "ERROR" && !last.text.includes("Reason: The service was stopped")) {
    wrong("an end is told with its reason", name);
  }
  const final = run.begun.at(-1) ?? "";
  // A cancelled or interrupted turn may have no saved answer.
  const hasAnswer = run.finished.includes(final) && run.state !== "CANCELLED" && run.state !== "ERROR";
  if (hasAnswer && times.at(-1) === 0) {
    wrong("an end is told with its answer", `${name}: not “mark:${final}”`);
  }
}

/** The latest run of a place is the one whose card was posted last; one that may continue counts as later. */
function judgeLabels(
  { labels: found, runs }: Outside,
  cards: ReadonlyMap<string, readonly Post[]>,
  isSettled: boolean,
  wrong: Wrong,
): void {
  for (const [place, names] of found) {
    const state = names.filter((name) => name.startsWith("agent:"));
    const here = runs.filter(({ dispatch }) => cards.get(dispatch)?.some((card) => card.place === place));
    const latest = here.at(-1);
    const expected = latest === undefined ? [] : [labels[latest.state] ?? "?"];
    if (here.some((run) => mayContinue(run, isSettled)) && state.join() === "agent:queued") continue;
    if (state.join() !== expected.join()) {
      const why = latest === undefined ? "no run" : `${firstOf(latest.dispatch)} ${latest.state}`;
      wrong(
        "a label shows the last state",
        `${place} has “${state.join()}”, not “${expected.join()}” (${why})`,
      );
    }
  }
}
