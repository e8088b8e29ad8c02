import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterKillMs, checkMs, processesThat, signal, statOf } from "./process-table.ts";

/**
 * Ends an agent's processes that have left the group of `leader`, as agents' tools and daemons often do: SIGTERM,
 * and SIGKILL for the rest at `until` (performance.now()). They are recognised by the agent's variables in their
 * environment (proc(5), `environ`); processes of the set-up have no AGENT_TURN and stay. Linux only.
 */
export async function endStrays(runId: string, leader: number, until: number): Promise<void> {
  if (await ended(runId, leader, "SIGTERM", until)) return;
  await ended(runId, leader, "SIGKILL", performance.now() + afterKillMs);
}

/** Signals each process once, new ones too. False if some are left at `until`. */
async function ended(runId: string, leader: number, name: NodeJS.Signals, until: number): Promise<boolean> {
  const signalled = new Set<number>();
  // Signalled at once, because later another process may have the id.
  const isFound = async (pid: number): Promise<boolean> => {
    if (pid === process.pid || !(await isStray(pid, runId, leader))) return false;
    if (!signalled.has(pid)) signal(pid, name);
    signalled.add(pid);
    return true;
  };
  for (;;) {
    const strays = await processesThat(isFound);
    if (strays === null || strays.length === 0) return true;
    if (performance.now() >= until) return false;
    await sleep(checkMs);
  }
}

/** Dead processes have no environment, and those of other users can't be read. */
async function isStray(pid: number, runId: string, leader: number): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  if (!environment.includes(runId)) return false;
  const variables = environment.split("\0");
  if (!variables.includes(`AGENT_RUN_ID=${runId}`)) return false;
  if (!variables.some((variable) => variable.startsWith("AGENT_TURN="))) return false;
  const { group } = await statOf(pid);
  return group !== undefined && group !== String(leader);
}
