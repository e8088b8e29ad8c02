/** A run's document as rows of the database, and back. */
import type { Statement } from "#disk/database.ts";
import type { Write } from "#disk/database-writer.ts";
import { parseRun, parseRunDocument, type Run, type RunDocument } from "#service/run/run-document.ts";
import { wireRowOf } from "./stored-answer.ts";

const putRun = `
  INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, name = excluded.name, model = excluded.model,
    environment = excluded.environment, skill = excluded.skill, created = excluded.created,
    updated = excluded.updated, queued = excluded.queued, title = excluded.title,
    conversation = excluded.conversation`;

/** Statements that make a run's rows say `after`; `before` is the document on the disk, null: there is none. */
export function putRunRows(before: RunDocument | null, after: RunDocument): Write {
  const { run, said, waiting, ...rest } = after;
  const short = brief(run.prompt);
  const saidFrom = before === null ? 0 : sharedStart(before.said, said);
  const metadata = before === null ? Object.entries(run.metadata) : [];
  const row = wireRowOf(run);
  const document = JSON.stringify({ ...rest, waiting: waiting.map(short) });
  return [
    [putRun, columnsOf(run)],
    [
      "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?)",
      [run.order, row.run, document, row.wire, row.secret, row.tail, row.sum],
    ],
    ...metadata.map(
      ([key, value]): Statement => [
        "INSERT OR IGNORE INTO metadata VALUES (?, ?, ?)",
        [key, value, run.order],
      ],
    ),
    ["DELETE FROM said WHERE ord = ? AND position >= ?", [run.order, saidFrom]],
    ...said
      .slice(saidFrom)
      .map(
        (words, at): Statement => [
          "INSERT INTO said VALUES (?, ?, ?)",
          [run.order, saidFrom + at, JSON.stringify(short(words))],
        ],
      ),
  ];
}

/** Takes a run that can't be read out of all lists; its other rows stay. */
export const setRunAside = (id: string, reason: string): Write => [
  ["INSERT INTO broken SELECT ord, id, ? FROM run WHERE id = ?", [reason, id]],
  ["DELETE FROM run WHERE id = ?", [id]],
];

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
