import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const lookAgainMs = 50;
const afterKillMs = 2_000;

/**
 * Ends what a run's agent started and what has left the group that `leader` leads, as tools that agents call
 * often do, and daemons: SIGTERM, and SIGKILL for what is left after `graceMs`. Such a process is known by the
 * variables that the agent was given (proc(5), `environ`); one without them stays, and so does what the set-up
 * started, which has no AGENT_TURN. Elsewhere than on Linux nobody can tell, and nothing is ended.
 */
export async function endStrays(runId: string, leader: number, graceMs: number): Promise<void> {
  if (process.platform !== "linux") return;
  if (await ended(runId, leader, "SIGTERM", graceMs)) return;
  await ended(runId, leader, "SIGKILL", afterKillMs);
}

/** Signals each once, those that come meanwhile too; false if some are still there after that time. */
async function ended(
  runId: string,
  leader: number,
  name: NodeJS.Signals,
  withinMs: number,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  const signalled = new Set<number>();
  for (;;) {
    const strays = await straysOf(runId, leader);
    if (strays.length === 0) return true;
    for (const pid of strays) if (!signalled.has(pid)) signal(pid, name);
    for (const pid of strays) signalled.add(pid);
    if (performance.now() >= until) return false;
    await sleep(lookAgainMs);
  }
}

async function straysOf(runId: string, leader: number): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const strays = await Promise.all(pids.map((pid) => isStray(pid, runId, leader)));
  return pids.filter((pid, at) => pid !== process.pid && strays[at] === true);
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
