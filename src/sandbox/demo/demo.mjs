// Plain JavaScript that every Node since 14 can run, so that an old version prints a sentence instead of a syntax error.
const oldest = 24;
const [major] = process.versions.node.split(".");

if (Number(major) < oldest) {
  process.stderr.write(
    `The demo needs Node ${oldest} or later and this is ${process.version}: run \`npm install\`, then \`npm run demo\`.\n`,
  );
  process.exitCode = 1;
} else {
  await import("./demo.ts");
}
