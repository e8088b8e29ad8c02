import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import { durableFile } from "#disk/durable-file.ts";
import { endProcesses } from "./process-group.ts";
import { startOf } from "./process-identity.ts";
import { endStrays } from "./stray-processes.ts";

const started = z.object({ pid: z.number().int().positive(), start: z.string().min(1) });

const noGroup = -1;

/** Which process groups the service started, on disk, so that a killed service's are ended at next start. */
export interface StartedProcesses {
  /** Resolves when it is durable that `pid` leads the run's group. */
  add(runId: string, pid: number): Promise<void>;
  remove(runId: string): Promise<void>;
  /** Ends the groups that are written down and are surely still the same, and what left them; forgets them all. */
  endLeftovers(): Promise<void>;
}

export function createStartedProcesses(folder: string, graceMs: number, log: Log): StartedProcesses {
  const path = (name: string) => join(folder, name);

  async function endLeftover(name: string): Promise<void> {
    if (name.endsWith(".json")) {
      const db = new Low(durableFile(path(name), started.parse), null);
      try {
        await db.read();
      } catch (error) {
        log.warn("a record of a started process can't be read", { file: name, error });
      }
      const { data } = db;
      const runId = name.slice(0, -".json".length);
      if (data !== null && (await startOf(data.pid)) === data.start) {
        log.warn("ending what an earlier service left running", { pid: data.pid, file: name });
        await endProcesses(data.pid, graceMs, runId);
      } else await endStrays(runId, noGroup, performance.now() + graceMs);
    }
    await rm(path(name), { force: true });
  }

  return {
    async add(runId, pid) {
      const start = await startOf(pid);
      // Nobody could tell later whether it is the same process: then it is better left alone.
      if (start === null) return;
      const db = new Low(durableFile(path(`${runId}.json`), started.parse), null);
      db.data = { pid, start };
      await db.write();
    },
    remove: (runId) => rm(path(`${runId}.json`), { force: true }),
    async endLeftovers() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await Promise.all((await readdir(folder)).map(endLeftover));
    },
  };
}
