/** Changes a thread in the given folder and prints the result. Runs under a file size limit. */
import { StoreError } from "#store/errors.ts";
import { openStore } from "#store/open-store.ts";
import { memoryLog, see } from "./threads.ts";

const store = await openStore({ dataDir: process.argv[2] ?? "", log: memoryLog().log, now: Date.now });
for (const [name, size] of [
  ["small", 0],
  ["large", 1_000_000],
  ["small", 0],
] as const) {
  const outcome = see(store, "slack:T1:C1:1.1", name, { said: ["x".repeat(size)] });
  const told = await outcome.then(
    () => "saved",
    (error: unknown) => (error instanceof StoreError ? error.name : String(error)),
  );
  process.stdout.write(`${name}: ${told}\n`);
}
await store.close();
