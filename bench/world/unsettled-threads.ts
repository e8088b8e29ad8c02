/** Threads with an unfinished run, written as the store writes them. */
import { addThreads, sampleThread } from "#bench/store/store-fill.ts";
import type { Thread } from "#core/thread.ts";
import { runName } from "./credentials.ts";

/** Returns a thread whose run works since `at`, in milliseconds since the epoch. */
function unsettled(index: number, at: number): { readonly thread: Thread; readonly runId: string } {
  const thread = sampleThread(index);
  const [record] = thread.runs;
  if (!record?.runId) throw new Error("the sample has no run");
  const { runId, request } = record;
  const time = new Date(at).toISOString();
  const run = {
    run_id: runId,
    title: request?.title ?? "",
    state: "INPROGRESS",
    created_at: time,
    updated_at: time,
    agent_config: { name: runName },
  };
  const open = { ...record, name: runName, since: time, open: true, run, told: null };
  return { thread: { ...thread, runs: [open], changedAt: time }, runId };
}

/**
 * Adds `count` of them, numbered from `first`, to the store in the folder. Resolves with their runs, which began
 * one a second from `begin` on, in milliseconds since the epoch.
 */
export async function addUnsettled(
  folder: string,
  first: number,
  count: number,
  begin: number,
): Promise<readonly { readonly id: string; readonly at: number }[]> {
  const made = Array.from({ length: count }, (_, index) => {
    const at = begin + index * 1_000;
    return { at, ...unsettled(first + index, at) };
  });
  await addThreads(folder, () => made.map(({ thread }) => thread));
  return made.map(({ runId, at }) => ({ id: runId, at }));
}
