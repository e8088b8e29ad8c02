/**
 * Changes threads in the given folder, starting at the given step, several at a time, until it is killed; prints
 * each step's number when its change has resolved.
 */
import { openStore } from "#store/open-store.ts";
import { memoryLog, newRun, newThread } from "./threads.ts";

const store = await openStore({ dataDir: process.argv[2] ?? "", log: memoryLog().log, now: Date.now });
let step = Number(process.argv[3]);
const write = async (): Promise<never> => {
  for (;;) {
    step += 1;
    const mine = step;
    const open = mine % 2 === 0;
    const thread = `t${mine % 7}`;
    await store.change(thread, (before) => {
      const seen = [...(before?.seen ?? []), String(mine)];
      const runs = [...(before?.runs ?? []).map((run) => ({ ...run, open })), newRun(`r${mine}`, { open })];
      return { thread: { ...newThread(thread), seen, runs: runs.slice(-20) }, result: null };
    });
    process.stdout.write(`${mine}\n`);
  }
};
await Promise.all(Array.from({ length: 5 }, write));
