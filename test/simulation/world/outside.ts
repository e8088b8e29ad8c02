/** Collects what is visible from outside, for the judge. */

import type { SimulatedRun } from "#test/simulation/world/service/simulated-run.ts";
import type { Posted } from "./chat.ts";
import type { Deed } from "./deliveries.ts";
import type { World } from "./world.ts";

export interface ArrivedFollowUp {
  readonly effect: string;
  readonly text: string;
  readonly run: SimulatedRun;
}

export interface Outside {
  readonly world: World;
  readonly deeds: readonly Deed[];
  /** The posts of the bot that stand, on both platforms. */
  readonly posted: readonly Posted[];
  /** Runs by their dispatch, without those that were started elsewhere. */
  readonly runsOf: ReadonlyMap<string, readonly SimulatedRun[]>;
  /** Without those that were lost with a run that never began. */
  readonly followUps: readonly ArrivedFollowUp[];
  wrong(invariant: string, what: string): void;
}

/** How the bot marks its runs for the service, as `docs` promise it to the service's other users. */
const dispatchMark = "agent-runs-bot.dispatch";
const reference = /^Reference: agent-runs-bot (.+)$/m;
export const referenceIn = (text: string): string | null => reference.exec(text)?.[1]?.trim() ?? null;

/** The part of the text that is an instruction: the lines that are not quoted. */
export const unquoted = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !line.startsWith(">"))
    .join("\n");

/** The first dispatch, after which retries are named. */
export const firstOf = (dispatch: string): string => dispatch.split("#retry-")[0] ?? dispatch;

export const dispatchOfRun = (run: SimulatedRun): string | null =>
  run.words[0]?.run.metadata?.[dispatchMark] ?? referenceIn(run.request.prompt);

export function gather(world: World, deeds: readonly Deed[]): Outside {
  const runsOf = new Map<string, SimulatedRun[]>();
  const followUps: ArrivedFollowUp[] = [];
  for (const run of world.service.runs.values()) {
    const dispatch = dispatchOfRun(run);
    if (dispatch !== null) runsOf.set(dispatch, [...(runsOf.get(dispatch) ?? []), run]);
    for (const text of run.followUps) followUps.push({ effect: referenceIn(text) ?? "", text, run });
  }
  return {
    world,
    deeds,
    posted: [...world.slack.posted, ...world.github.posted].filter(({ deletedAt }) => deletedAt === null),
    runsOf,
    followUps,
    wrong: (invariant, what) => world.machine.violated(invariant, what),
  };
}

/** True if something outside shows that the bot took the event in: a run, a message, a follow-up or a reaction. */
export function leftTrace({ world, runsOf, followUps, posted }: Outside, { event }: Deed): boolean {
  const ofEvent = (effect: string): boolean => effect.startsWith(`${event.id}/`);
  const { refused, reactions } = event.by.platform === "slack" ? world.slack : world.github;
  const message = "message" in event ? event.message : undefined;
  return (
    runsOf.has(event.id) ||
    posted.some(
      ({ effect, kind, dispatch }) => ofEvent(effect) || (kind === "card" && dispatch === event.id),
    ) ||
    followUps.some(({ effect }) => ofEvent(effect)) ||
    [...refused].some(ofEvent) ||
    (message !== undefined && (reactions.get(message)?.size ?? 0) > 0)
  );
}
