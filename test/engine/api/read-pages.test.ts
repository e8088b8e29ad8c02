import { expect, test } from "vitest";
import { readPages } from "#engine/api/read-pages.ts";
import { createHandClock } from "#test/support/engine/hand-clock.ts";
import { StandInApi } from "#test/support/engine/stand-in-api.ts";

const minute = (n: number): string => new Date(Date.parse("2026-01-01T00:00:00Z") + n * 60_000).toISOString();

function apiWith(count: number, pageSize: number): StandInApi {
  const api = new StandInApi(createHandClock());
  api.pageSize = pageSize;
  for (let n = 1; n <= count; n += 1) {
    api.add({ run_id: `run-${n}`, created_at: minute(n), updated_at: minute(n) });
  }
  return api;
}

async function read(api: StandInApi, more: { after?: number; mostPages?: number } = {}, onPage = () => {}) {
  const seen: string[] = [];
  const end = await readPages(
    (query) => api.list(query),
    { name: "bot", by: "updated_at", mostPages: 20, ...more },
    async (runs) => {
      seen.push(...runs.map(({ run_id }) => run_id));
      onPage();
      return "more";
    },
  );
  return { end, seen };
}

test("all pages are read, newest first", async () => {
  const { end, seen } = await read(apiWith(7, 3));
  expect(end).toBe("complete");
  expect(seen).toEqual(["run-7", "run-6", "run-5", "run-4", "run-3", "run-2", "run-1"]);
});

test("no run is missed when runs change between two pages", async () => {
  const api = apiWith(9, 3);
  let minutes = 100;
  const { seen } = await read(api, {}, () => {
    // A run that was read and one that was not move to the front.
    for (const id of ["run-8", "run-2"]) {
      const run = api.runs.get(id);
      if (run !== undefined) api.runs.set(id, { ...run, updated_at: minute(minutes++) });
    }
  });
  // The unread run at the front is newer than every run that was read, so the next sweep finds it.
  expect(new Set(seen)).toEqual(new Set([9, 8, 7, 6, 5, 4, 3, 1].map((n) => `run-${n}`)));
});

test("pages of a service that ignores the time filter are read until they are too old", async () => {
  const api = apiWith(20, 4);
  api.ignores.add("updated_after");
  const { end, seen } = await read(api, { after: Date.parse(minute(15)) });
  expect(end).toBe("complete");
  expect(seen).toContain("run-15");
  expect(api.count("list")).toBeLessThan(4);
});

test("reading is cut when the service repeats a cursor, since pages may be left", async () => {
  const api = apiWith(3, 3);
  const list = api.list.bind(api);
  api.list = async (query) => ({
    ...(await list({ ...query, cursor: "0" })),
    page_info: { has_next_page: true, next_cursor: "again" },
  });
  const { end } = await read(api);
  expect(end).toBe("cut");
  expect(api.count("list")).toBe(2);
});

test("reading is cut after the allowed number of pages", async () => {
  expect((await read(apiWith(9, 3), { mostPages: 2 })).end).toBe("cut");
});
