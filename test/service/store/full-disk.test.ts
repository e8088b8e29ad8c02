import { expect, test } from "vitest";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { childServing } from "#test/support/service/child-serving.ts";
import { type Api, problemOf } from "#test/support/service/serving.ts";

/** Starts the service in a process whose files may have at most so many blocks of 512 or 1024 bytes. */
const servingWithin = (folder: string, blocks: number | "unlimited") =>
  childServing(folder, "sleep 300", { shell: `ulimit -f ${blocks}; exec "$@"` });

test("runs that the disk has no room for are refused without harm, and later ones are stored once there is room", async () => {
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
  await limited.killed();

  const { api } = await servingWithin(folder, "unlimited");
  expect(await numbers(api)).toEqual(kept);
  await api.create({ prompt: "after word" });
  expect(await numbers(api)).toEqual([...kept, "after"]);
});
