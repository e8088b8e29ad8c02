// Plain JavaScript that every Node since 14 can read, so that an old one gets a sentence and no syntax error.
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
  // Nearly all objects are soon garbage; left alone, the heap grows to several times the size of the live ones. A
  // still smaller heap would need collections that delay the bot's acknowledgements; the service sends none.
  const { setFlagsFromString } = await import("node:v8");
  const isService = what === "service";
  setFlagsFromString(`--heap-growing-percent=${isService ? 40 : 100}`);
  // Start-up is mostly parsing: reading back compiled code takes less time and memory.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache?.();
  await (isService ? import("./service-main.ts") : import("./main.ts"));
}
