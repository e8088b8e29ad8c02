// Plain JavaScript that every Node since 14 can read, so that an old version prints a sentence instead of a syntax error.
const oldest = 24;
const [major] = process.versions.node.split(".");
const [program, ...others] = process.argv.slice(2);

if (Number(major) < oldest) {
  process.stderr.write(
    `agent-runs-bot needs Node ${oldest} or later and this is ${process.version}: run \`npm install\` without --omit=optional, which installs a suitable one, then \`npm start\`; or install Node ${oldest} or later.\n`,
  );
  process.exitCode = 1;
} else if (others.length > 0 || (program !== undefined && program !== "service")) {
  process.stderr.write(
    "The bot and the service take no arguments: settings are environment variables, or lines of a file .env (see .env.example).\n",
  );
  process.exitCode = 1;
} else {
  // Most objects are short-lived, but by default the heap grows to several times the size of the live ones. An even
  // smaller heap would need collections that delay the bot's acknowledgements; the service has none to send.
  const { setFlagsFromString } = await import("node:v8");
  const isService = program === "service";
  setFlagsFromString(`--heap-growing-percent=${isService ? 40 : 100}`);
  // Start-up is mostly parsing: reading back compiled code takes less time and memory.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache?.();
  await (isService ? import("./service-main.ts") : import("./main.ts"));
}
