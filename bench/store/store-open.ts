/** Opens the store in the given folder, in its own process, and prints the time and memory that it took. */
import { openStore } from "#store/open-store.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const megabytes = (): number => Math.round(process.memoryUsage.rss() / 1024 / 1024);

const before = megabytes();
const started = performance.now();
const store = await openStore({ dataDir: process.argv[2] ?? "", log, now: Date.now });
const openedMs = (performance.now() - started).toFixed(1);
const opened = megabytes();
await store.close();
process.stdout.write(`opened in ${openedMs} ms; RSS ${before} MB before, ${opened} MB after\n`);
