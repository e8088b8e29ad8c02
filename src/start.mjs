// Plain JavaScript that every Node since 14 can read, since telling an old one is its purpose.
const oldest = 24;
const [major] = process.versions.node.split(".");
const [what, ...others] = process.argv.slice(2);

if (Number(major) < oldest) {
  process.stderr.write(
    `agent-runs-bot needs Node ${oldest} or later and this is ${process.version}: run \`npm install\` without --omit=optional, which brings a fitting one, then \`npm start\`; or install Node ${oldest} or later.\n`,
  );
  process.exitCode = 1;
} else if (others.length > 0 || (what !== undefined && what !== "service")) {
  process.stderr.write(
    "The bot and the service take no arguments: settings are environment variables, or lines of a file .env (see .env.example).\n",
  );
  process.exitCode = 1;
} else {
  // Nearly all that is made is soon garbage: left alone, the heap grows to several times what is alive. Kept
  // smaller still, the collections that this takes show in how long Slack and GitHub wait for the bot's answer; nobody waits so for the service alone.
  const { setFlagsFromString } = await import("node:v8");
  const isService = what === "service";
  setFlagsFromString(`--heap-growing-percent=${isService ? 40 : 100}`);
  // Start-up is mostly parsing: what was compiled once is read back, which takes less time and memory.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache?.();
  await (isService ? import("./service-main.ts") : import("./main.ts"));
}
