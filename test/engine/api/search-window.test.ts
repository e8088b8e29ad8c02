/** Searches for a run where the times that the service gives contradict each other. */
import { beforeEach, expect, test } from "vitest";
import { create, type SetUp, setUp } from "#test/support/engine/set-up.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";

const hours = 3_600_000;

let made: SetUp;
beforeEach(() => {
  made = setUp();
});

/** Asks for a run whose create is performed without an answer; `then` is called in between. */
async function dispatch(then: () => void = () => {}): Promise<void> {
  const { api } = made;
  api.afterwards = (call) => {
    if (call !== "create" || api.count("create") > 1) return;
    then();
    throw new Refusal({ certainty: "unknown", retryable: true });
  };
  await made.engine.start();
  await made.ask("chat:a", create("d1"));
  await made.clock.advance(200_000);
}

function expectFound(): void {
  expect(made.api.count("create")).toBe(1);
  expect(made.store.get("chat:a").runs[0]?.runId).not.toBeNull();
}

test("a run is found though the time of the service's answers is hours ahead of its runs' times", async () => {
  const list = made.api.list.bind(made.api);
  made.api.list = async (query) => ({ ...(await list(query)), servedAt: made.clock.now() + 2 * hours });
  await dispatch();
  expectFound();
});

test("a run is found though another was made while the service's clock was hours ahead", async () => {
  made.api.givesTime = true;
  made.api.add({ run_id: "ahead", created_at: "2026-01-01T02:00:00Z" });
  await dispatch();
  expectFound();
});

test("a run is found though the service's clock is set hours ahead after it was made", async () => {
  made.api.givesTime = true;
  await dispatch(() => {
    made.api.skewMs = 2 * hours;
  });
  expectFound();
});

test("a run is found though the service lists the oldest first", async () => {
  made.api.givesTime = true;
  made.api.pageSize = 5;
  for (let n = 0; n < 20; n += 1) made.api.add({ run_id: `old-${n}`, created_at: "2025-01-01T00:00:00Z" });
  const list = made.api.list.bind(made.api);
  made.api.list = (query) => list({ ...query, sort_order: "asc" });
  await dispatch();
  expectFound();
});
