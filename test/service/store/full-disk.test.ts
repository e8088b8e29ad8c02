import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { type Api, apiAt, freshFolder, problemOf } from "#test/support/service/serving.ts";

/** The service in a process of its own, where no file may grow beyond so many blocks of 512 or 1024 bytes. */
async function servingWithin(
  folder: string,
  blocks: number | "unlimited",
): Promise<{ api: Api; kill(): Promise<void> }> {
  const script = fileURLToPath(new URL("../../support/service/serving-process.ts", import.meta.url));
  const child = spawn(
    "/bin/sh",
    ["-c", `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, script, folder, "sleep 300"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  onTestFinished(kill);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const address = await eventually("the child's address", () => /^http:\S+$/m.exec(said)?.[0] ?? null);
  return { api: apiAt(address), kill };
}

test("what the disk has no room for is refused, harms nothing, and is taken once there is room", async () => {
  const folder = await freshFolder();
  const limited = await servingWithin(folder, 1_000);
  const kept: string[] = [];
  let refused = 0;
  for (let n = 0; refused < 3 && n < 100; n += 1) {
    const body = { prompt: `${n} ${"word ".repeat(8_000)}` };
    const answer = await limited.api.send("POST", "/agent/runs", body);
    if (answer.status === 200) kept.push(`${n}`);
    else {
      refused += 1;
      expect(await problemOf(Promise.resolve(answer))).toMatchObject({ http: 500, retryable: true });
    }
  }
  expect(refused).toBe(3);
  expect(kept.length).toBeGreaterThan(3);
  const numbers = async (api: Api): Promise<string[]> =>
    (await api.list("limit=500&sort_by=created_at&sort_order=asc")).runs.map(
      ({ prompt }) => prompt.split(" ")[0] ?? "",
    );
  expect(await numbers(limited.api)).toEqual(kept);
  await limited.kill();

  const { api } = await servingWithin(folder, "unlimited");
  expect(await numbers(api)).toEqual(kept);
  await api.create({ prompt: "after word" });
  expect(await numbers(api)).toEqual([...kept, "after"]);
});
