/** Cards, labels and the telling of ends. */
import type { Deed } from "./deeds.ts";
import { cancelsOf } from "./judge-runs.ts";
import { firstOf, type Outside, type Post, type SeenRun } from "./outside.ts";
import type { Wrong } from "./violation.ts";

const lines: Readonly<Record<string, string>> = {
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Stopped by an error of the platform",
  CANCELLED: "Cancelled",
};
const endings: Readonly<Record<string, string>> = {
  SUCCEEDED: "The run succeeded",
  FAILED: "The run failed",
  ERROR: "The run was stopped by an error of the platform",
  CANCELLED: "The run was cancelled",
};
const labels: Readonly<Record<string, string>> = {
  SUCCEEDED: "agent:done",
  FAILED: "agent:failed",
  ERROR: "agent:failed",
  CANCELLED: "agent:failed",
};

export function judgePosts(deeds: readonly Deed[], outside: Outside, wrong: Wrong): void {
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
    judgeCard(card, run, wrong);
    judgeEnds(outside, card.place, run, cancelsOf(outside, run, deeds), wrong);
  }
  judgeLabels(outside, cards, wrong);
}

const headlineOf = (text: string): string => /\*([^*\n]+)\*/.exec(text.replaceAll("**", "*"))?.[1] ?? "";

function judgeCard({ text, place }: Post, run: SeenRun, wrong: Wrong): void {
  const name = `${run.run_id} (${run.dispatch}) in ${place}`;
  const shown = headlineOf(text);
  if (shown !== lines[run.state]) {
    wrong("a card shows the last state", `${name} is ${run.state}, its card says “${shown}”`);
  }
  if (!text.includes(run.run_id)) wrong("a card names its run", name);
  if (text.includes("Waiting: ")) wrong("a card shows the last state", `${name} still says that it waits`);
}

/** Each end once, with its own answer, and the last one for sure. */
function judgeEnds(
  { posts }: Outside,
  place: string,
  run: SeenRun,
  cancels: readonly Deed[],
  wrong: Wrong,
): void {
  const told = posts.filter((post) => post.kind === "reply" && post.cause === run.dispatch);
  const name = `${run.run_id} (${run.dispatch}, ${run.state}) in ${place}`;
  const last = told.at(-1);
  if (told.some((post) => post.place !== place)) wrong("an end is told where its card stands", name);
  if (!last?.text.includes(endings[run.state] ?? "?")) {
    return wrong("an end is told", `${name}: ${told.length} replies, the last “${last?.text.slice(0, 300)}”`);
  }
  // A turn ends once, and may be cancelled before it begins.
  const most = Math.max(1, run.begun.length + cancels.length);
  if (told.length > most) wrong("an end is told once", `${name}: ${told.length} replies, ${most} ends`);
  if (told.some(({ text }) => text.includes("The agent left no answer"))) {
    wrong("an end is told with its answer", `${name}: an answer is said to be missing`);
  }
  const times = run.begun.map((mark) => told.filter(({ text }) => text.includes(`mark:${mark}`)).length);
  if (times.some((count) => count > 1)) wrong("an answer is told once", `${name}: ${times.join()} times`);
  const final = run.begun.at(-1) ?? "";
  if (run.finished.includes(final) && times.at(-1) === 0 && run.state !== "CANCELLED") {
    wrong("an end is told with its answer", `${name}: not “mark:${final}”`);
  }
}

/** The latest run of a place is the one whose card was posted last. */
function judgeLabels(
  { labels: found, runs }: Outside,
  cards: ReadonlyMap<string, readonly Post[]>,
  wrong: Wrong,
): void {
  for (const [place, names] of found) {
    const state = names.filter((name) => name.startsWith("agent:"));
    const here = runs.filter(({ dispatch }) => cards.get(dispatch)?.some((card) => card.place === place));
    const latest = here.at(-1);
    const expected = latest === undefined ? [] : [labels[latest.state] ?? "?"];
    if (state.join() !== expected.join()) {
      const why = latest === undefined ? "no run" : `${firstOf(latest.dispatch)} ${latest.state}`;
      wrong(
        "a label shows the last state",
        `${place} has “${state.join()}”, not “${expected.join()}” (${why})`,
      );
    }
  }
}
