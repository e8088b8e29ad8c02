import { expect, test } from "vitest";
import { type Api, problemOf, serving } from "#test/support/service/serving.ts";

/** Runs without an agent, created one second apart, that differ in several fields. */
async function manyRuns(count: number): Promise<Api> {
  let seconds = 0;
  const { api } = await serving({ demoStepMs: 600_000, now: () => 1_800_000_000_000 + seconds * 1000 });
  for (let i = 0; i < count; i++) {
    seconds = i;
    await api.create({
      prompt: `Prompt ${i}${i === 3 ? ", about Zebras" : ""}`,
      title: `Title ${String(99 - i)}`,
      config: { name: i % 2 === 0 ? "even" : "odd", ...(i % 5 === 0 ? { model_id: "large" } : {}) },
      ...(i === 4 ? { skill: "octo/app:release" } : {}),
      metadata: { third: String(i % 3), half: String(i % 2) },
    });
  }
  seconds = count;
  return api;
}

const numbers = async (api: Api, query: string): Promise<number[]> =>
  (await api.list(query)).runs.map(({ prompt }) => Number(/\d+/.exec(prompt)?.[0]));

const at = (seconds: number): string => new Date(1_800_000_000_000 + seconds * 1000).toISOString();

test("runs are found by each filter and by several at once", async () => {
  const api = await manyRuns(10);
  const ask = (query: string): Promise<number[]> =>
    numbers(api, `${query}&sort_by=created_at&sort_order=asc`);

  expect(await ask("name=odd")).toEqual([1, 3, 5, 7, 9]);
  expect(await ask("config_name=odd")).toEqual([1, 3, 5, 7, 9]);
  expect(await ask("model_id=large")).toEqual([0, 5]);
  expect(await ask("name=odd&model_id=large")).toEqual([5]);
  expect(await ask("metadata[third]=0")).toEqual([0, 3, 6, 9]);
  expect(await ask("metadata%5Bthird%5D=0&metadata[half]=1")).toEqual([3, 9]);
  expect(await ask("metadata[constructor]=x")).toEqual([]);
  expect(await ask(`created_after=${at(6)}`)).toEqual([7, 8, 9]);
  expect(await ask(`created_before=${at(2)}`)).toEqual([0, 1]);
  expect(await ask(`created_after=${at(6)}&created_before=${at(9)}`)).toEqual([7, 8]);
  expect(await ask(`updated_after=${encodeURIComponent(at(7).replace("Z", "+00:00"))}`)).toEqual([8, 9]);
  expect(await ask("q=ZEBRA")).toEqual([3]);
  expect(await ask("q=title 92")).toEqual([7]);
  expect(await ask("skill=octo/app:release")).toEqual([4]);
  expect(await ask("source=API&creator=api-key&limit=2")).toEqual([0, 1]);
  expect(await ask("source=SLACK")).toEqual([]);
  expect(await ask("creator=somebody")).toEqual([]);
  expect(await ask("state=SUCCEEDED")).toEqual([]);
  expect(await ask("state=SUCCEEDED&state=QUEUED&name=odd")).toEqual([1, 3, 5, 7, 9]);
  expect(await ask("name=&model_id=")).toHaveLength(10);
});

test("by default a page has twenty runs, the latest change first", async () => {
  const api = await manyRuns(25);
  expect(await numbers(api, "")).toEqual(Array.from({ length: 20 }, (_, i) => 24 - i));
  expect(await numbers(api, "limit=500")).toHaveLength(25);
  expect((await numbers(api, "sort_by=title&sort_order=asc")).slice(0, 2)).toEqual([24, 23]);
  expect((await numbers(api, "sort_by=title")).slice(0, 2)).toEqual([0, 1]);
  expect((await numbers(api, "sort_by=agent&sort_order=asc")).slice(0, 3)).toEqual([4, 0, 1]);
  const oldest = (await api.list("sort_by=created_at&sort_order=asc&limit=1")).runs[0];
  await api.followUp(oldest?.run_id ?? "", "more");
  expect((await numbers(api, "limit=2"))[0]).toBe(0);
});

test.each([
  "created_at&sort_order=desc",
  "created_at&sort_order=asc",
  "title&sort_order=desc",
  "agent",
  "updated_at",
])("pages sorted by %s hold each run once while runs are added", async (sorting) => {
  const api = await manyRuns(12);
  const seen: number[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; pages < 20; pages++) {
    const page = await api.list(`limit=5&sort_by=${sorting}${cursor ? `&cursor=${cursor}` : ""}`);
    seen.push(...page.runs.map(({ prompt }) => Number(/\d+/.exec(prompt)?.[0])));
    await api.create({ prompt: `Prompt ${100 + pages}`, title: `Title ${pages}`, config: { name: "later" } });
    cursor = page.page_info.next_cursor;
    if (!page.page_info.has_next_page || pages > 5) break;
  }
  const first = seen.filter((number) => number < 100);
  expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i));
  expect(new Set(seen).size).toBe(seen.length);
});

test("the last page says that there is no next one", async () => {
  const api = await manyRuns(4);
  const first = await api.list("limit=2");
  expect(first.page_info).toEqual({ has_next_page: true, next_cursor: expect.any(String) });
  const last = await api.list(`limit=2&cursor=${first.page_info.next_cursor}`);
  expect(last.runs).toHaveLength(2);
  expect(last.page_info).toEqual({ has_next_page: false });
});

test.each(["title", "agent"])(
  "runs with long names are paged by %s with cursors that fit a URL",
  async (by) => {
    const { api } = await serving({ demoStepMs: 600_000 });
    const long = "é".repeat(20_000);
    for (let i = 0; i < 3; i++) {
      await api.create({ prompt: `Prompt ${i}`, title: `${long}${i}`, config: { name: `${long}${i}` } });
    }
    const read: number[] = [];
    for (let cursor = ""; ; ) {
      const query = `sort_by=${by}&sort_order=asc&limit=1&cursor=${cursor}`;
      read.push(...(await numbers(api, query)));
      const { next_cursor } = (await api.list(query)).page_info;
      if (!next_cursor) break;
      expect(next_cursor.length).toBeLessThan(1_000);
      cursor = next_cursor;
    }
    expect(read).toEqual([0, 1, 2]);
  },
);

test("a cursor of another sorting is refused", async () => {
  const api = await manyRuns(3);
  const { next_cursor } = (await api.list("limit=1&sort_by=title")).page_info;
  expect(
    await problemOf(api.send("GET", `/agent/runs?sort_by=created_at&cursor=${next_cursor}`)),
  ).toMatchObject({
    http: 400,
    detail: expect.stringContaining("cursor"),
  });
});
