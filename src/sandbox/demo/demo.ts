/** `npm run demo`: shows the bot at work in a terminal, without any account. Exits with 0 on success. */
import { startBot } from "./bot-process.ts";
import { tellStory } from "./story.ts";
import { createTranscript } from "./transcript.ts";
import { createVisitor } from "./visitor.ts";

async function main(): Promise<number> {
  const transcript = createTranscript((line) => process.stdout.write(`${line}\n`), Date.now);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  try {
    transcript.heading("The bot starts, with an embedded service and stand-ins for Slack and GitHub");
    await using bot = await startBot(ending.signal);
    transcript.note(`It listens at ${bot.url}; the demo only talks to it over HTTP.`);
    await using visitor = await createVisitor(bot.url, transcript, ending.signal);
    await tellStory(visitor, transcript);
  } catch (caught) {
    // The first error is the cause; errors while stopping follow from it.
    const error: unknown = caught instanceof SuppressedError ? caught.suppressed : caught;
    const reason = error instanceof Error ? error.message : "unknown error";
    process.stderr.write(`\nThe demo failed: ${reason}\n`);
    return 1;
  }
  transcript.heading("The demo is complete");
  transcript.note("Try it yourself: `npm start`, then open http://127.0.0.1:3000/sandbox");
  return 0;
}

process.exitCode = await main();
