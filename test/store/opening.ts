/** Opens the store in the given folder, then prints a line. */
import { openStore } from "#store/open-store.ts";
import { memoryLog } from "./threads.ts";

process.stdout.write("opening\n");
const store = await openStore({ dataDir: process.argv[2] ?? "", log: memoryLog().log, now: Date.now });
process.stdout.write("open\n");
await store.close();
