/** Judges the runs and follow-ups that the service has received. */
import { headline } from "#test/simulation/world/chat.ts";
import type { Deed } from "#test/simulation/world/deliveries.ts";
import { dispatchOfRun, firstOf, type Outside, unquoted } from "#test/simulation/world/outside.ts";
import { lockedIssue } from "#test/simulation/world/world.ts";

export function checkRuns(outside: Outside): void {
  const { world, deeds, posted, runsOf, followUps, wrong } = outside;
  const byId = new Map(deeds.map((deed) => [deed.event.id, deed]));
  let retries = 0;
  const stored = new Set(
    [...world.disk.threads.values()].flatMap(({ runs }) => runs.map((run) => run.dispatch)),
  );
  for (const dispatch of runsOf.keys()) {
    if (dispatch.includes("#retry-")) retries += 1;
    const deed = byId.get(firstOf(dispatch));
    if (deed === undefined) wrong("runs are asked for", `nobody asked for ${dispatch}`);
    else if (deed.event.place === lockedIssue) {
      wrong("no run is made where nobody can be told of it", dispatch);
    } else if (!deed.permitted)
      wrong("only permitted people dispatch", `${deed.event.by.id} did: ${dispatch}`);
    else if (!stored.has(dispatch)) wrong("saved before acked", `${dispatch} has a run but is not saved`);
  }
  const asked = deeds.filter((deed) => deed.verb === "retry" && deed.permitted && deed.triedAt !== null);
  if (retries > asked.length)
    wrong("runs are asked for", `${retries} retries, asked for ${asked.length} times`);

  for (const { effect } of followUps) {
    const event = effect.slice(0, effect.lastIndexOf("/follow-up/"));
    const deed = byId.get(event);
    if (deed === undefined) wrong("follow-ups are asked for", `nobody said ${effect}`);
    else if (!deed.permitted) wrong("only permitted people steer", `${deed.event.by.id} did: ${event}`);
    else if (deed.intent === "nothing") wrong("what is said aside stays among people", event);
  }
  checkOrder(outside, byId);
  checkTokens(outside);

  for (const run of world.service.runs.values()) {
    const dispatch = dispatchOfRun(run);
    // The bot itself ends a twin, and a run that appears after people were told that none was started.
    const isNotStarted = posted.some(
      (post) => post.kind === "card" && post.dispatch === dispatch && headline(post.view) === "Not started",
    );
    const isTwin = (runsOf.get(dispatch ?? "")?.length ?? 0) > 1;
    if (run.cancels.length === 0 || isTwin || isNotStarted) continue;
    const cancels = deeds.filter(({ verb, triedAt }) => verb === "cancel" && triedAt !== null);
    if (!cancels.some(({ permitted }) => permitted)) {
      wrong("only permitted people cancel", `${run.id} was cancelled, yet nobody who may asked for it`);
    }
  }
}

/** A follow-up that was acked before another one was delivered reaches the run first; its twin may come later. */
function checkOrder({ world, followUps, wrong }: Outside, byId: ReadonlyMap<string, Deed>): void {
  for (const run of world.service.runs.values()) {
    const told = followUps
      .filter(
        ({ run: of, effect }, at) => of === run && followUps.findIndex((one) => one.effect === effect) === at,
      )
      .map(({ effect }) => byId.get(effect.slice(0, effect.lastIndexOf("/follow-up/"))));
    for (const [at, later] of told.entries()) {
      for (const earlier of told.slice(0, at)) {
        if (!later || !earlier || later.event.place !== earlier.event.place) continue;
        // A follow-up that was ignored first, and taken when it was delivered again, has no order.
        if (later.acked !== "saved") continue;
        // Nor has one that was ignored before the request of both, while the other waited for a run in vain.
        const savedAt = byId.get(firstOf(dispatchOfRun(run) ?? ""))?.ackedAt ?? null;
        const cameBefore = savedAt !== null && earlier.triedAt !== null && earlier.triedAt < savedAt;
        if (earlier.acked === "ignored" && cameBefore) continue;
        // Who reads back finds what was said in its order.
        if (world.machine.weather.catchUpMs !== null && (earlier.saidAt ?? 0) < (later.saidAt ?? 0)) continue;
        if (later.ackedAt !== null && earlier.triedAt !== null && later.ackedAt < earlier.triedAt) {
          wrong(
            "follow-ups arrive in order",
            `${earlier.event.id} reached ${run.id} before ${later.event.id}`,
          );
        }
      }
    }
  }
}

/** A person's words are an instruction in at most one prompt or follow-up, and only with permission. */
function checkTokens({ deeds, runsOf, followUps, wrong }: Outside): void {
  const instructions = [
    ...[...runsOf].flatMap(([dispatch, runs]) =>
      runs.map((run) => ({ where: firstOf(dispatch), text: unquoted(run.request.prompt) })),
    ),
    ...followUps.map(({ effect, text }) => ({ where: effect, text: unquoted(text) })),
  ];
  for (const { event, token, permitted } of deeds) {
    if (token === null) continue;
    const found = new Set<string>();
    for (const { where, text } of instructions) if (text.includes(` ${token} `)) found.add(where);
    if (found.size > 1) wrong("words take effect once", `${event.id}: ${[...found].join(", ")}`);
    if (found.size > 0 && !permitted) wrong("only permitted people instruct", `${event.id} did`);
  }
}
