import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterKillMs, checkMs, processesThat, signal, statOf } from "./process-table.ts";
import { endStrays } from "./stray-processes.ts";

/**
 * Ends a command and everything it started: its group, led by `leader`, and, for the agent of the run `agentOf`,
 * processes that have left the group. Git and the set-up leave none (null).
 */
export async function endProcesses(leader: number, graceMs: number, agentOf: string | null): Promise<void> {
  if (agentOf === null) return endGroup(leader, graceMs);
  const until = performance.now() + graceMs;
  await Promise.all([endGroup(leader, graceMs), endStrays(agentOf, leader, until)]);
  // The last of the group may have started one more, which gets the rest of the time.
  await endStrays(agentOf, leader, until);
}

/**
 * Ends every process of the group: SIGTERM, and SIGKILL for the rest after `graceMs`. Resolves when the group is
 * gone or can't be ended. Windows has no groups: there the process and its descendants are ended at once.
 */
async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (process.platform === "win32") return endTree(leader);
  if (!signal(-leader, "SIGTERM")) return;
  if (await gone(leader, graceMs)) return;
  signal(-leader, "SIGKILL");
  await gone(leader, afterKillMs);
}

async function gone(leader: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (signal(-leader, 0) && (await hasLiving(leader))) {
    if (performance.now() >= until) return false;
    await sleep(checkMs);
  }
  return true;
}

/**
 * Whether a process of the group still runs. In many containers process 1 does not reap, so dead processes stay in
 * their group for ever. Without /proc, every process that can be signalled counts.
 */
async function hasLiving(leader: number): Promise<boolean> {
  const members = await processesThat((pid) => isLivingMember(pid, leader));
  return members === null || members.length > 0;
}

async function isLivingMember(pid: number, leader: number): Promise<boolean> {
  const { state, group } = await statOf(pid);
  return group === String(leader) && state !== "Z" && state !== "X";
}

const endTree = (leader: number): Promise<void> =>
  new Promise((resolve) => {
    execFile("taskkill", ["/pid", String(leader), "/T", "/F"], () => resolve());
  });
