/** Starts the bot as src/main.ts does, with a third platform. */
import { github } from "#github/platform.ts";
import { runBot } from "#process/bot.ts";
import { slack } from "#slack/platform.ts";
import { lineChat } from "./platform.ts";

await runBot([slack, github, lineChat], process.env);
