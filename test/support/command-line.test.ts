import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test.each([
  ["simulation/simulate.ts", ["--seeds", "many"], '--seeds must be a whole number, 1 or more; it is "many".'],
  ["simulation/simulate.ts", ["--seeds", "0"], '--seeds must be a whole number, 1 or more; it is "0".'],
  ["simulation/simulate.ts", ["--sedes", "10"], "Unknown option '--sedes'"],
  ["kill/kill.ts", ["--requests", "-5"], "Option '--requests' argument is ambiguous."],
  ["kill/kill.ts", ["--kills", "1.5"], '--kills must be a whole number, 0 or more; it is "1.5".'],
])("%s %j exits with an explanation and its usage", async (script, args, sentence) => {
  const path = join(import.meta.dirname, "..", script);
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [path, ...args], (error, _, said) =>
      resolve({ code: error?.code, stderr: said }),
    );
  });
  expect(code).toBe(1);
  expect(stderr).toContain(sentence);
  expect(stderr).toContain("Usage: npm run ");
});
