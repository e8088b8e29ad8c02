/** A run's document as rows of the database, and back. */
import type { Statement } from "#disk/database.ts";
import type { Write } from "#disk/database-writer.ts";
import {
  artifactTypes,
  parseRun,
  parseRunDocument,
  type Run,
  type RunDocument,
} from "#service/run/run-document.ts";

const putRun = `
  INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, name = excluded.name, model = excluded.model,
    environment = excluded.environment, skill = excluded.skill, created = excluded.created,
    updated = excluded.updated, queued = excluded.queued, title = excluded.title,
    conversation = excluded.conversation`;

/** The statements that replace the document `before` (null: there is none) by `after`. */
export function putRunRows(before: RunDocument | null, after: RunDocument): Write {
  const { run, said, waiting, ...rest } = after;
  const short = brief(run.prompt);
  const saidFrom = before === null ? 0 : sharedStart(before.said, said);
  const metadata = before === null ? Object.entries(run.metadata) : [];
  const document = JSON.stringify({ ...rest, waiting: waiting.map(short) });
  return [
    [putRun, columnsOf(run)],
    [
      "INSERT OR REPLACE INTO item (ord, run, rest) VALUES (?, ?, ?)",
      [run.order, JSON.stringify(run), document],
    ],
    ...((before === null ? run.artifacts.length > 0 : before.run.artifacts !== run.artifacts)
      ? artifactRows(run)
      : []),
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

/** Replaces the rows of the run's artifacts. */
const artifactRows = ({ order, artifacts }: Run): Write => [
  ["DELETE FROM made WHERE ord = ?", [order]],
  ...artifacts.map(
    (each): Statement => [
      "INSERT OR IGNORE INTO made VALUES (?, ?, ?)",
      [order, artifactTypes[each.kind], each.kind === "file" ? each.uid : ""],
    ],
  ),
];

/** The statements that take a damaged run out of all lists. Its other rows stay. */
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
  run.parentRunId,
  run.factoryUid,
];

/** The number of elements at the start that are identical objects. */
function sharedStart<T>(before: readonly T[], after: readonly T[]): number {
  const differs = after.findIndex((each, position) => each !== before[position]);
  return differs < 0 ? after.length : differs;
}

/** The run in a row of `item`. Throws if it is damaged or of an earlier version. */
export const runOf = (text: string): Run => parseRun(JSON.parse(text));

/** The document in a run's rows. Throws if it is damaged. */
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

/** Replaces a text that equals the run's prompt by null, so that the prompt is stored once. */
const brief =
  (prompt: string) =>
  <T extends Words>(words: T): Words =>
    words.text === prompt ? { ...words, text: null } : words;

const unbrief =
  (prompt: unknown) =>
  (words: Words): Words =>
    words.text === null ? { ...words, text: prompt } : words;
