import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import { durableFile } from "#disk/durable-file.ts";
import { endProcesses } from "./process-group.ts";
import { startOf } from "./process-table.ts";
import { endStrays } from "./stray-processes.ts";

const started = z.object({ pid: z.number().int().positive(), start: z.string().min(1) });

/** For strays of any group: no process group has this id. */
const noGroup = -1;

/** The service's process groups on disk, so that the next start ends those of a killed service. */
export type StartedProcesses = ReturnType<typeof createStartedProcesses>;

export function createStartedProcesses(folder: string, graceMs: number, log: Log) {
  const path = (name: string) => join(folder, name);
  const record = (name: string) => new Low(durableFile(path(name), started.parse), null);

  async function endLeftover(name: string): Promise<void> {
    if (name.endsWith(".json")) {
      const db = record(name);
      try {
        await db.read();
      } catch (error) {
        log.warn("the record of a started process can't be read", { file: name, error });
      }
      const { data } = db;
      const runId = name.slice(0, -".json".length);
      if (data !== null && (await startOf(data.pid)) === data.start) {
        log.warn("ending processes of an earlier service", { pid: data.pid, file: name });
        await endProcesses(data.pid, graceMs, runId);
      } else await endStrays(runId, noGroup, performance.now() + graceMs);
    }
    await rm(path(name), { force: true });
  }

  return {
    /** Records `pid` as the leader of the run's process group. Resolves when that is durable. */
    async add(runId: string, pid: number): Promise<void> {
      const start = await startOf(pid);
      // Without its start time, the process can't be recognised later.
      if (start === null) return;
      const db = record(`${runId}.json`);
      db.data = { pid, start };
      await db.write();
    },
    remove: (runId: string): Promise<void> => rm(path(`${runId}.json`), { force: true }),
    /** Ends the recorded groups that still exist, and processes that have left them; removes all records. */
    async endLeftovers(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await Promise.all((await readdir(folder)).map(endLeftover));
    },
  };
}
