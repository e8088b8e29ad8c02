/** Collects what is visible from outside, for the judge. */
import { dispatchKey } from "#core/run.ts";
import type { Posted } from "./chat.ts";
import type { Deed } from "./deliveries.ts";
import type { SimulatedRun } from "./simulated-run.ts";
import type { World } from "./world.ts";

export interface Outside {
  readonly world: World;
  readonly deeds: readonly Deed[];
  /** All posts of the bot, on both platforms. */
  readonly posted: readonly Posted[];
  /** Runs by their dispatch, without those that were started elsewhere. */
  readonly runsOf: ReadonlyMap<string, readonly SimulatedRun[]>;
  readonly followUps: readonly {
    readonly effect: string;
    readonly text: string;
    readonly run: SimulatedRun;
  }[];
  /** Ids of the events that took effect, from the stored threads. */
  readonly seen: ReadonlySet<string>;
  wrong(invariant: string, what: string): void;
}

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

export function gather(world: World, deeds: readonly Deed[]): Outside {
  const runsOf = new Map<string, SimulatedRun[]>();
  const followUps: { effect: string; text: string; run: SimulatedRun }[] = [];
  for (const run of world.service.runs.values()) {
    const metadata = run.words[0]?.run.metadata;
    const dispatch = metadata?.[dispatchKey] ?? referenceIn(run.request.prompt);
    if (dispatch !== null) runsOf.set(dispatch, [...(runsOf.get(dispatch) ?? []), run]);
    for (const text of run.followUps) followUps.push({ effect: referenceIn(text) ?? "", text, run });
  }
  return {
    world,
    deeds,
    posted: [...world.slack.posted, ...world.github.posted],
    runsOf,
    followUps,
    seen: new Set([...world.disk.threads.values()].flatMap((thread) => thread.seen)),
    wrong: (invariant, what) => world.machine.violated(invariant, what),
  };
}
