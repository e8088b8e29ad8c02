/** A run's document as rows of the database, and back. */
import { parseRun, parseRunDocument, type Run, type RunDocument } from "./run-document.ts";

/** Makes the rows of a run what they say; it may be done again. */
export interface PutRun {
  readonly kind: "put";
  /** The columns of `run`, in their order. */
  readonly columns: readonly (string | number | null)[];
  readonly order: number;
  readonly run: string;
  readonly rest: string;
  /** What never changes; null: it is there already. */
  readonly lasting: {
    readonly prompt: string;
    readonly metadata: readonly (readonly [string, string])[];
  } | null;
  /** The utterances from this position on; there are none beyond. */
  readonly saidFrom: number;
  readonly said: readonly string[];
}

/** Takes a run that can't be read out of everything that is looked through; its other rows stay. */
interface SetAside {
  readonly kind: "set aside";
  readonly id: string;
  readonly reason: string;
}

export type Write = PutRun | SetAside;

/** What has to be written for the run to be `after`; `before` is what is on the disk, null: nothing. */
export function writeOf(before: RunDocument | null, after: RunDocument): PutRun {
  const { run, said, ...rest } = after;
  const { prompt, ...item } = run;
  const saidFrom = before === null ? 0 : sharedStart(before.said, said);
  return {
    kind: "put",
    columns: columnsOf(run),
    order: run.order,
    run: JSON.stringify(item),
    rest: JSON.stringify(rest),
    lasting:
      before === null ? { prompt: JSON.stringify(prompt), metadata: Object.entries(run.metadata) } : null,
    saidFrom,
    said: said.slice(saidFrom).map((words) => JSON.stringify(words)),
  };
}

const columnsOf = (run: Run): readonly (string | number | null)[] => [
  run.order,
  run.id,
  run.state,
  run.config.name ?? "",
  run.config.model_id ?? null,
  run.config.environment_id ?? null,
  run.skill,
  run.createdAt,
  run.updatedAt,
  run.queued,
  run.title,
  // Most conversations have one run and its id.
  run.conversationId === run.id ? null : run.conversationId,
];

/** How many of the first elements are the very same. */
function sharedStart<T>(before: readonly T[], after: readonly T[]): number {
  const differs = after.findIndex((each, position) => each !== before[position]);
  return differs < 0 ? after.length : differs;
}

/** The run of a row of `item` and one of `prompt`. Throws if they do not hold one. */
export const runOf = (run: string, prompt: string): Run => {
  const value: object = JSON.parse(run);
  return parseRun({ ...value, prompt: JSON.parse(prompt) });
};

/** The document of the rows. Throws if they do not hold one. */
export function documentOf(
  { run, rest, prompt }: { readonly run: string; readonly rest: string; readonly prompt: string },
  said: readonly string[],
): RunDocument {
  const item: object = JSON.parse(run);
  const others: object = JSON.parse(rest);
  return parseRunDocument({
    ...others,
    run: { ...item, prompt: JSON.parse(prompt) },
    said: said.map((words): unknown => JSON.parse(words)),
  });
}
