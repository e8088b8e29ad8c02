/** A run's document as rows of the database, and back. */
import { parseRun, parseRunDocument, type Run, type RunDocument } from "#service/run/run-document.ts";
import { type WireRow, wireRowOf } from "./stored-answer.ts";

/** Makes the rows of a run what they say; it may be done again. */
export interface PutRun {
  readonly kind: "put";
  /** The columns of `run`, in their order. */
  readonly columns: readonly (string | number | null)[];
  readonly order: number;
  readonly row: WireRow;
  readonly rest: string;
  /** Pairs that are not there yet. */
  readonly metadata: readonly (readonly [string, string])[];
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
  const { run, said, waiting, ...rest } = after;
  const short = brief(run.prompt);
  const saidFrom = before === null ? 0 : sharedStart(before.said, said);
  return {
    kind: "put",
    columns: columnsOf(run),
    order: run.order,
    row: wireRowOf(run),
    rest: JSON.stringify({ ...rest, waiting: waiting.map(short) }),
    metadata: before === null ? Object.entries(run.metadata) : [],
    saidFrom,
    said: said.slice(saidFrom).map((words) => JSON.stringify(short(words))),
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

/** The run in a row of `item`. Throws if it does not hold one. */
export const runOf = (text: string): Run => parseRun(JSON.parse(text));

/** The document of the rows. Throws if they do not hold one. */
export function documentOf(run: string, rest: string, said: readonly string[]): RunDocument {
  const whole: { readonly prompt?: unknown } = JSON.parse(run);
  const { waiting = [], ...others }: { readonly waiting?: readonly Words[] } = JSON.parse(rest);
  const full = unbrief(whole.prompt);
  return parseRunDocument({
    ...others,
    run: whole,
    said: said.map((words) => full(JSON.parse(words))),
    waiting: waiting.map(full),
  });
}

interface Words {
  readonly text?: unknown;
}

/** The prompt waits first, and then is said: it is not written again each time. */
const brief =
  (prompt: string) =>
  <T extends Words>(words: T): Words =>
    words.text === prompt ? { ...words, text: null } : words;

const unbrief =
  (prompt: unknown) =>
  (words: Words): Words =>
    words.text === null ? { ...words, text: prompt } : words;
