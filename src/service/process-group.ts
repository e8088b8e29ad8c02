import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const lookAgainMs = 25;
const afterKillMs = 2_000;

/**
 * Ends every process of the group that `leader` leads: SIGTERM, and SIGKILL for what is left after `graceMs`.
 * Resolves when the group is gone, or can't be ended. Windows has no groups: there the process and its
 * descendants are ended at once.
 */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (process.platform === "win32") return endTree(leader);
  if (!signal(leader, "SIGTERM")) return;
  if (await gone(leader, graceMs)) return;
  signal(leader, "SIGKILL");
  await gone(leader, afterKillMs);
}

/** False if the group has no process that could be signalled. */
function signal(leader: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, name);
  } catch {
    return false;
  }
}

async function gone(leader: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (signal(leader, 0)) {
    if (performance.now() >= until) return false;
    await sleep(lookAgainMs);
  }
  return true;
}

const endTree = (leader: number): Promise<void> =>
  new Promise((resolve) => {
    execFile("taskkill", ["/pid", String(leader), "/T", "/F"], () => resolve());
  });
