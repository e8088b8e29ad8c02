import { join } from "node:path";

/** The script that starts the bot, or with the argument `service` the service alone. */
export const startScript = join(import.meta.dirname, "../../../src/start.mjs");
