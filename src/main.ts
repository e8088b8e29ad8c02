/** The bot's composition root: it lists the platforms and hands over the environment. */
import { github } from "#github/platform.ts";
import { runBot } from "#process/bot.ts";
import { slack } from "#slack/platform.ts";

await runBot([slack, github], process.env);
