/** A run store in its own folder, and runs for it. */
import { onTestFinished } from "vitest";
import type { CreateRequest } from "#agent-runs/schema.ts";
import type { Log } from "#base/log.ts";
import { newRun } from "#service/run/new-run.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import type { ListBounds } from "#service/store/run-list.ts";
import { createRunStore, type RunStore } from "#service/store/run-store.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { silentLog } from "#test/support/logs.ts";

/** An open store in `folder` or a fresh one. It is closed after the test. */
export async function openStore({
  folder,
  now = Date.now,
  log = silentLog,
  bounds,
}: {
  readonly folder?: string;
  readonly now?: () => number;
  readonly log?: Log;
  readonly bounds?: ListBounds;
} = {}): Promise<RunStore> {
  const runs = createRunStore(folder ?? (await freshFolder()), now, log, bounds);
  await runs.load();
  onTestFinished(() => runs.close());
  return runs;
}

/** The `order`th run, QUEUED, with the fields of `set`. */
export function documentOf(order: number, request: CreateRequest, set: Partial<Run> = {}): RunDocument {
  const birth = { id: `run-${order}`, order, now: 1_800_000_000_000 + order, sessionKey: "key", earlier: [] };
  const document = newRun(request, birth);
  return { ...document, run: { ...document.run, ...set } };
}

/** A filter for all runs, in pages of 20. */
export const everything: ListFilter = {
  limit: 20,
  cursor: null,
  sort_by: "updated_at",
  sort_order: "desc",
  state: [],
  metadata: [],
};

/** The ids on all pages in order. `between` runs after each page. */
export async function idsOn(
  runs: RunStore,
  filter: ListFilter,
  between: () => Promise<void> = async () => undefined,
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await runs.list({ ...filter, cursor });
    if (!page.ok) throw new Error(page.refusal.detail);
    ids.push(...page.value.runs.map(({ id }) => id));
    cursor = page.value.nextCursor;
    if (cursor === null) return ids;
    await between();
  }
}
