/** The simulation's own reading of stored documents, which shares no code with the bot. */
import type { Effect } from "#core/effect.ts";
import type { Ref } from "#core/place.ts";
import type { RunRecord, Thread } from "#core/thread.ts";

/** Everything that leads to the thread. */
export const refsIn = ({ places, runs }: Thread): readonly Ref[] => [
  ...places,
  ...runs.flatMap(({ runId }) => (runId === null ? [] : [`run:${runId}`])),
];

/** True if the thread needs no process. */
export const isAtRest = ({ effects, waiting, runs }: Thread): boolean =>
  effects.length + waiting.length === 0 && runs.every(({ open }) => !open);

/** The effects that people wait for. */
export const workIn = ({ effects }: Thread): readonly Effect[] =>
  effects.filter(({ kind }) => !kind.startsWith("twin-"));

/** The thread as an earlier version would have written it: without the fields that this version added. */
export function asOlder(thread: Thread): Thread {
  const effects = thread.effects.map((effect): Effect => {
    const { waitMs: _, ...older } = effect;
    return older;
  });
  const runs = thread.runs.map(({ followUps: _, settlesAt: __, ...older }): RunRecord => older);
  return { ...thread, effects, runs };
}
