import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { processesThat } from "./process-table.ts";

const lookAgainMs = 50;
const afterKillMs = 2_000;

/**
 * Ends what a run's agent started and what has left the group that `leader` leads, as tools that agents call
 * often do, and daemons: SIGTERM, and SIGKILL for what is left at `until` (performance.now()). Such a process is
 * known by the variables that the agent was given (proc(5), `environ`); one without them stays, and so does what
 * the set-up started, which has no AGENT_TURN. Elsewhere than on Linux nobody can tell, and nothing is ended.
 */
export async function endStrays(runId: string, leader: number, until: number): Promise<void> {
  if (await ended(runId, leader, "SIGTERM", until)) return;
  await ended(runId, leader, "SIGKILL", performance.now() + afterKillMs);
}

/** Signals each once, those that come meanwhile too; false if some are still there then. */
async function ended(runId: string, leader: number, name: NodeJS.Signals, until: number): Promise<boolean> {
  const signalled = new Set<number>();
  // At once, not when all have been looked at: by then another process may have the id.
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
    await sleep(lookAgainMs);
  }
}

/** The dead have no environment any more, and other users' can't be read. */
async function isStray(pid: number, runId: string, leader: number): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  if (!environment.includes(runId)) return false;
  const variables = environment.split("\0");
  if (!variables.includes(`AGENT_RUN_ID=${runId}`)) return false;
  if (!variables.some((variable) => variable.startsWith("AGENT_TURN="))) return false;
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return group !== undefined && group !== String(leader);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
