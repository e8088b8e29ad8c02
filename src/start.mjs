// Plain JavaScript that every Node since 14 can read, since telling an old one is its purpose.
const oldest = 24;
const [major] = process.versions.node.split(".");

if (Number(major) < oldest) {
  process.stderr.write(
    `agent-runs-bot needs Node ${oldest} or later and this is ${process.version}: run \`npm install\` without --omit=optional, which brings a fitting one, then \`npm start\`; or install Node ${oldest} or later.\n`,
  );
  process.exitCode = 1;
} else {
  // Nearly all that the bot makes is soon garbage: left alone, the heap grows to several times what is alive.
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--heap-growing-percent=40");
  // Start-up is mostly parsing: what was compiled once is read back, which takes less time and memory.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache?.();
  await (process.argv[2] === "service" ? import("./service-main.ts") : import("./main.ts"));
}
