/** Judges that runs and follow-ups exist once, in order, and were requested by a permitted person. */
import type { Deed } from "#test/kill/deeds/deeds.ts";
import { firstOf, type Outside, placesOf, type SeenRun } from "#test/kill/outside.ts";
import type { Wrong } from "./violation.ts";

export function judgeRuns(deeds: readonly Deed[], outside: Outside, wrong: Wrong): void {
  const byEvent = new Map(
    deeds.flatMap((deed) => (deed.event === null ? [] : [[deed.event, deed] as const])),
  );
  const seen = new Set<string>();
  for (const run of outside.runs) {
    if (seen.has(run.dispatch)) wrong("a request makes one run", `${run.dispatch} made more than one`);
    seen.add(run.dispatch);
    judgeCause(outside, run, deeds, byEvent, wrong);
    judgeTurns(run, wrong);
    judgeOrder(run, byEvent, wrong);
    if (run.state === "CANCELLED" && !cancelsOf(outside, run, deeds).some(({ permitted }) => permitted)) {
      wrong("only permitted people cancel", `${run.run_id} was cancelled, and nobody asked for it`);
    }
  }
}

/** Finds the request that caused a run. A label that was read back later has another id than its delivery. */
function judgeCause(
  outside: Outside,
  run: SeenRun,
  deeds: readonly Deed[],
  byEvent: ReadonlyMap<string, Deed>,
  wrong: Wrong,
): void {
  const first = firstOf(run.dispatch);
  const places = placesOf(outside, first);
  const labels = deeds.filter(({ kind, place }) => kind.includes("label") && places.includes(place ?? ""));
  const deed = byEvent.get(first) ?? (first.startsWith("github:comment:") ? undefined : labels[0]);
  if (deed === undefined) return wrong("runs are asked for", `nobody asked for ${run.dispatch}`);
  if (!deed.permitted) wrong("only permitted people dispatch", `${deed.by} did, by a ${deed.kind}: ${first}`);
  else if (deed.intent !== "run") wrong("runs are asked for", `a ${deed.kind} made ${run.dispatch}`);
  if (first === run.dispatch) return;
  const retries = deeds.filter(
    ({ intent, target }) =>
      intent === "retry" && target !== null && (firstOf(target) === first || places.includes(target)),
  );
  if (retries.length < Number(run.dispatch.split("#retry-")[1])) {
    wrong("runs are asked for", `${run.dispatch} was asked for ${retries.length} times`);
  }
}

/** Judges that no turn is worked on twice, even by different processes of the service. */
function judgeTurns({ run_id, begun, finished, said, state }: SeenRun, wrong: Wrong): void {
  const turns = new Set(said.filter(({ role }) => role === "user").map(({ turn }) => turn)).size;
  if (begun.length > turns) {
    wrong("nothing runs twice", `the agent began ${run_id} ${begun.length} times in ${turns} turns`);
  }
  if (state === "SUCCEEDED" && finished.length === 0) {
    wrong("a run that succeeded was worked on", `${run_id} never came to its end`);
  }
  const last = begun.at(-1);
  if (last !== undefined && !finished.includes(last) && state !== "ERROR" && state !== "CANCELLED") {
    wrong("a run that was interrupted is ERROR", `${run_id} is ${state}`);
  }
}

const referenced = /^Reference: agent-runs-bot (\S+)\/follow-up\/\d+$/gm;

/** The events of the follow-ups that reached the run, in order. */
export const followUpsOf = ({ said }: SeenRun): readonly string[] =>
  said
    .filter(({ role }) => role === "user")
    .flatMap(({ text }) => [...text.matchAll(referenced)].map(([, event = ""]) => event));

function judgeOrder(run: SeenRun, byEvent: ReadonlyMap<string, Deed>, wrong: Wrong): void {
  const arrived = followUpsOf(run).map((event) => byEvent.get(event));
  for (const [at, later] of arrived.entries()) {
    for (const earlier of arrived.slice(0, at)) {
      if (!later || !earlier || later.place !== earlier.place || later.ackedAt === null) continue;
      if (later.ackedAt < earlier.sentAt) {
        wrong("follow-ups arrive in order", `${later.event} came after ${earlier.event} to ${run.run_id}`);
      }
    }
  }
}

/** The requests to cancel the run. */
export const cancelsOf = (outside: Outside, run: SeenRun, deeds: readonly Deed[]): readonly Deed[] => {
  const places = placesOf(outside, run.dispatch);
  return deeds.filter(
    ({ kind, target }) =>
      kind.includes("cancel") && target !== null && (target === run.dispatch || places.includes(target)),
  );
};
