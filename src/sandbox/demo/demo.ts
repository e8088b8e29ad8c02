/** `npm run demo`: the bot's whole story in a terminal, without any account. Exits 0 if it went as it should. */
import { startBot } from "./bot-process.ts";
import { tellStory } from "./story.ts";
import { createTranscript } from "./transcript.ts";
import { createVisitor } from "./visitor.ts";

async function main(): Promise<number> {
  const transcript = createTranscript((line) => process.stdout.write(`${line}\n`), Date.now);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  try {
    transcript.heading("The bot is started, with an embedded service and stand-ins of Slack and GitHub");
    await using bot = await startBot(ending.signal);
    transcript.note(`It listens at ${bot.url}, and it is reached over HTTP only.`);
    await using visitor = await createVisitor(bot.url, transcript, ending.signal);
    await tellStory(visitor, transcript);
  } catch (caught) {
    // What went wrong first counts, not what came of it at the end.
    const error: unknown = caught instanceof SuppressedError ? caught.suppressed : caught;
    const reason = error instanceof Error ? error.message : "it failed without a reason";
    process.stderr.write(`\nThe demo did not go as it should: ${reason}\n`);
    return 1;
  }
  transcript.heading("Everything went as it should");
  transcript.note("Try it yourself: `npm start`, then open http://127.0.0.1:3000/sandbox");
  return 0;
}

process.exitCode = await main();
