import { z } from "zod";
import type { ListFilter } from "./list-query.ts";
import { type Result, refused } from "./problem.ts";
import { creatorUid, type Run, sourceOfAll } from "./run-document.ts";

export interface Page {
  readonly runs: readonly Run[];
  /** null: nothing follows. */
  readonly nextCursor: string | null;
}

type SortKey = number | string;

/**
 * The runs that match, sorted, one page of them. A cursor names the last run of the page before by what it
 * was sorted by and its place in the order of creation, not by a count: runs that are added meanwhile
 * neither shift nor repeat what follows.
 */
export function listRuns(runs: Iterable<Run>, filter: ListFilter): Result<Page> {
  const after = filter.cursor === null ? null : readCursor(filter.cursor, filter);
  if (after === "invalid") {
    return refused("invalid_request", "cursor: it is not one that this service gave for the same sorting");
  }
  const keyOf = sortKeys[filter.sort_by];
  const direction = filter.sort_order === "asc" ? 1 : -1;
  const compare = (a: Mark, b: Mark): number => direction * (compareKeys(a.key, b.key) || a.order - b.order);
  const matching = [...runs]
    .filter((run) => matches(run, filter))
    .map((run) => ({ run, key: keyOf(run), order: run.order }))
    .filter((marked) => after === null || compare(marked, after) > 0)
    .sort(compare);
  const page = matching.slice(0, filter.limit);
  const last = page.at(-1);
  const more = matching.length > page.length && last !== undefined;
  return {
    ok: true,
    value: { runs: page.map(({ run }) => run), nextCursor: more ? writeCursor(last, filter) : null },
  };
}

interface Mark {
  readonly key: SortKey;
  readonly order: number;
}

const sortKeys: Readonly<Record<ListFilter["sort_by"], (run: Run) => SortKey>> = {
  updated_at: (run) => run.updatedAt,
  created_at: (run) => run.createdAt,
  title: (run) => run.title,
  agent: (run) => run.config.name ?? "",
};

const compareKeys = (a: SortKey, b: SortKey): number => (a < b ? -1 : a > b ? 1 : 0);

function matches(run: Run, filter: ListFilter): boolean {
  const { config } = run;
  const same = (wanted: string | undefined, found: string | null | undefined): boolean =>
    wanted === undefined || wanted === found;
  return (
    (filter.state.length === 0 || filter.state.includes(run.state)) &&
    same(filter.name, config.name) &&
    same(filter.model_id, config.model_id) &&
    same(filter.environment_id, config.environment_id) &&
    same(filter.skill, run.skill) &&
    same(filter.creator, creatorUid) &&
    same(filter.source, sourceOfAll) &&
    (filter.created_after === undefined || run.createdAt > filter.created_after) &&
    (filter.created_before === undefined || run.createdAt < filter.created_before) &&
    (filter.updated_after === undefined || run.updatedAt > filter.updated_after) &&
    filter.metadata.every(
      ([key, value]) => Object.hasOwn(run.metadata, key) && run.metadata[key] === value,
    ) &&
    (filter.q === undefined || mentions(run, filter.q.toLowerCase()))
  );
}

const mentions = (run: Run, words: string): boolean =>
  [run.title, run.prompt, run.skill ?? ""].some((text) => text.toLowerCase().includes(words));

const cursor = z.tuple([z.string(), z.string(), z.union([z.number(), z.string()]), z.number()]);

const writeCursor = ({ key, order }: Mark, { sort_by, sort_order }: ListFilter): string =>
  Buffer.from(JSON.stringify([sort_by, sort_order, key, order])).toString("base64url");

function readCursor(text: string, { sort_by, sort_order }: ListFilter): Mark | "invalid" {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return "invalid";
  }
  const parsed = cursor.safeParse(value);
  if (!parsed.success) return "invalid";
  const [by, direction, key, order] = parsed.data;
  return by === sort_by && direction === sort_order ? { key, order } : "invalid";
}
