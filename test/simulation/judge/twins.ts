/**
 * Judges what exists twice. A twin is excused if the first one was hidden for longer than the settling time, and if
 * one of them was ended within the hour, or told where it can't be ended.
 */
import type { Posted } from "#test/simulation/world/chat.ts";
import type { System } from "#test/simulation/world/clocks.ts";
import type { Doubt } from "#test/simulation/world/machine.ts";
import { type Outside, referenceIn } from "#test/simulation/world/outside.ts";
import type { Heard } from "#test/simulation/world/service/runs-service.ts";
import {
  episodeLink,
  isOver,
  type SimulatedRun,
  wordOn,
} from "#test/simulation/world/service/simulated-run.ts";
import { settlingMs } from "#test/simulation/world/troubles.ts";

const minute = 60_000;
/** The hour, and the time that the last look takes if it fails first. */
const endedWithinMs = 70 * minute;

const sinceOf = (doubt: Doubt | null): number =>
  Math.min(doubt?.since ?? Number.POSITIVE_INFINITY, doubt?.life.diedAt ?? Number.POSITIVE_INFINITY);

/** The last one asked for need not be the last one made, since a request may be carried out late. */
const byDoubt = (one: { readonly doubt: Doubt | null }, other: { readonly doubt: Doubt | null }): number =>
  sinceOf(one.doubt) - sinceOf(other.doubt);

/** True if a reader could not find it although it waited for the settling time. */
const wasHidden = (system: System, doubt: Doubt | null, shownAt: number): boolean =>
  shownAt - sinceOf(doubt) > settlingMs[system];

export function checkTwins(outside: Outside): void {
  for (const [dispatch, runs] of outside.runsOf) {
    if (runs.length > 1 || keptRun(outside, dispatch) === null) checkRuns(outside, dispatch, runs);
  }
  checkPosts(outside);
  checkFollowUps(outside);
}

/** The run that the bot takes for the dispatch's: the one in the thread's document; null if it gave up. */
export function keptRun({ world, runsOf }: Pick<Outside, "world" | "runsOf">, dispatch: string) {
  const runs = runsOf.get(dispatch) ?? [];
  for (const thread of world.disk.threads.values()) {
    for (const record of thread.runs) {
      if (record.dispatch === dispatch) return runs.find(({ id }) => id === record.runId) ?? null;
    }
  }
  return runs[0] ?? null;
}

const madeAt = ({ words }: SimulatedRun): number => words[0]?.at ?? 0;

function checkRuns(outside: Outside, dispatch: string, runs: readonly SimulatedRun[]): void {
  const { world, posted, wrong } = outside;
  const { lags } = world.machine.weather;
  const inOrder = runs.toSorted((one, other) => madeAt(one) - madeAt(other));
  const names = inOrder.map(({ id }) => id).join(", ");
  const kept = keptRun(outside, dispatch);
  // Where none stays, people were told that none started.
  const asAsked = runs.toSorted(byDoubt);
  for (const earlier of kept === null ? asAsked : asAsked.slice(0, -1)) {
    if (!wasHidden("agent-runs", earlier.doubt, madeAt(earlier) + lags.runs)) {
      wrong("a dispatch makes exactly one run", `${dispatch} made ${names}`);
      return;
    }
  }
  const byOwnTime = runs.toSorted((one, other) => createdAt(one).localeCompare(createdAt(other)));
  const tellsOf = (run: SimulatedRun): readonly Posted[] =>
    run.episodes.flatMap((_, at) => posted.filter(({ view }) => saysLink(view, episodeLink(run.id, at + 1))));
  const [elder] = inOrder;
  const endedAt = elder?.cancels[0];
  if (elder === byOwnTime[0] && kept !== null && kept !== elder && endedAt !== undefined) {
    const isSteered = world.service.heard.some(({ run, at }) => run === kept && at < endedAt);
    // The reply waits for the answer while the card shows the end already, and is not taken back.
    const isTold = (world.disk.toldAt.get(kept.id) ?? endedAt) < endedAt;
    if (!isSteered && !isTold) wrong("the elder twin stays", `${dispatch}: ${kept.id} of ${names}`);
  }
  const doubledAt = madeAt(inOrder[1] ?? inOrder[0] ?? runs[0] ?? failing());
  for (const run of runs) {
    if (run === kept || run.refusesCancel) continue;
    const over = run.words.find(({ run: { state } }) => isOver(state));
    if (over === undefined || over.at - doubledAt > endedWithinMs) {
      wrong("a twin is ended within the hour", `${dispatch}: ${run.id} of ${names}`);
    }
    if (run.cancels.length > 0 && tellsOf(run).some(({ kind }) => kind === "reply"))
      wrong("a twin's end is not told", `${dispatch}: ${run.id}`);
    if (!isOver(wordOn(run).state)) wrong("a twin stays ended", `${dispatch}: ${run.id}`);
  }
}

const failing = (): never => {
  throw new Error("There are no twins.");
};

const createdAt = ({ words }: SimulatedRun): string => words[0]?.run.created_at ?? "";

const saysLink = (view: Posted["view"], link: string): boolean =>
  JSON.stringify(view.details).includes(`"${link}"`);

function checkPosts({ world, wrong }: Outside): void {
  const { lags } = world.machine.weather;
  for (const { name, posted, unsure } of [world.slack, world.github]) {
    for (const [effect, messages] of Map.groupBy(posted, (one) => one.effect)) {
      const [first, second] = messages;
      if (first === undefined || second === undefined) continue;
      // Private messages can't be looked up before they are repeated.
      if (first.kind === "tell" && name === "slack" && unsure.has(effect)) continue;
      const areHidden = messages
        .toSorted(byDoubt)
        .slice(0, -1)
        .every(({ at, doubt }) => wasHidden(name, doubt, at + lags[name]));
      if (!areHidden) {
        wrong("a message is posted once", `${effect}: ${messages.length} times`);
        continue;
      }
      const standing = messages.filter(
        ({ deletedAt }) => deletedAt === null || deletedAt - second.at > endedWithinMs,
      );
      if (standing.length > 1)
        wrong("a twin is ended within the hour", `${effect}: ${standing.length} messages`);
      if (messages.every(({ deletedAt }) => deletedAt !== null)) wrong("one of the twins stays", effect);
    }
  }
}

function checkFollowUps({ world, posted, wrong }: Outside): void {
  const { lags } = world.machine.weather;
  const kept = world.service.heard.filter(({ isLost }) => !isLost);
  const eventOf = ({ text }: Heard): string => {
    const effect = referenceIn(text) ?? "";
    return effect.slice(0, effect.lastIndexOf("/follow-up/"));
  };
  for (const [event, all] of Map.groupBy(kept, eventOf)) {
    if (all.length < 2) continue;
    const areHidden = all
      .toSorted(byDoubt)
      .slice(0, -1)
      .every(({ run, at, text, doubt }) => {
        const shown = run.conversation.find((said) => said.text === text && said.writtenAt >= at);
        return wasHidden(
          "agent-runs",
          doubt,
          (shown?.writtenAt ?? Number.POSITIVE_INFINITY) + lags.conversation,
        );
      });
    if (!areHidden) wrong("a follow-up arrives exactly once", `${event} came ${all.length} times`);
    else if (!posted.some(({ kind, effect }) => kind === "tell" && effect.startsWith(`${event}/`))) {
      wrong("a follow-up that came twice is told", event);
    }
  }
}
