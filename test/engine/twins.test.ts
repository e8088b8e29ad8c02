/** A world that lags longer than the settling time: twins are found and ended. */
import { expect, test } from "vitest";
import { mention, reply } from "#test/support/core/story.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";
import { type WholeEngine, wholeEngine } from "#test/support/engine/whole-engine.ts";

const minute = 60_000;
const lost = { certainty: "unknown", retryable: true, reason: "No answer." } as const;

/** Hides runs from lists until they are older than `lagMs`. */
function lag({ api, clock }: WholeEngine, lagMs: number): void {
  const list = api.list.bind(api);
  api.list = async (query) => {
    const page = await list(query);
    const isShown = ({ created_at }: { created_at: string }) => clock.now() - Date.parse(created_at) >= lagMs;
    return { ...page, runs: page.runs.filter(isShown) };
  };
}

function cutFirst(made: WholeEngine, call: "create" | "followUp"): void {
  made.api.afterwards = (done) => {
    if (done === call && made.api.count(call) === 1) throw new Refusal(lost);
  };
}

/** An engine in a changed world that was asked for a run. */
async function asked(change: (made: WholeEngine) => void): Promise<WholeEngine> {
  const made = wholeEngine();
  change(made);
  await made.engine.start();
  await made.engine.accept(mention("fix it"));
  return made;
}

/** The first create gets no answer, and lists show runs after this time. */
const cutAndLate = (lagMs: number) =>
  asked((made) => {
    lag(made, lagMs);
    cutFirst(made, "create");
  });

const twinsSeen = ({ observed }: WholeEngine): number =>
  observed.reduce((sum, event) => (event.kind === "twins" ? sum + event.count : sum), 0);

test("a run that appears after the settling time stays, and the younger one is cancelled within the hour", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock } = made;
  await clock.advance(2 * minute);
  expect(api.count("create")).toBe(2);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  await clock.advance(58 * minute);
  expect([...api.runs.values()].map(({ run_id, state }) => [run_id, state])).toEqual([
    ["run-1", "QUEUED"],
    ["run-2", "CANCELLED"],
  ]);
  expect(made.thread().runs).toMatchObject([{ runId: "run-1", open: true }]);
  expect(twinsSeen(made)).toBe(1);
  // Nobody is told of the end of the run that nobody asked for.
  expect(made.slack.tries.filter(({ effect }) => effect.kind === "reply")).toEqual([]);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(10 * minute);
  const replies = made.slack.tries.filter(({ effect }) => effect.kind === "reply");
  expect(replies).toHaveLength(1);
  expect(JSON.stringify(replies[0]?.effect)).toContain("The run succeeded");
  expect(made.thread().effects).toEqual([]);
});

test("a run that people have steered already stays, and its elder is cancelled", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock, engine } = made;
  await clock.advance(2 * minute);
  await engine.accept(reply("with the new parser"));
  await clock.advance(58 * minute);
  expect(api.runs.get("run-1")?.state).toBe("CANCELLED");
  expect(made.thread().runs[0]?.runId).toBe("run-2");
});

test("a run of a dispatch that was given up is cancelled when it appears", async () => {
  const made = await asked((made) => {
    const { api } = made;
    lag(made, 5 * minute);
    api.afterwards = (call) => {
      if (call === "create") throw new Refusal(api.count("create") > 1 ? { reason: "Too late." } : lost);
    };
    api.before = (call) => {
      if (call === "create" && api.count("create") > 1)
        throw new Refusal({ reason: "The credits are used up." });
    };
  });
  const { api, clock } = made;
  await clock.advance(3 * minute);
  expect(made.thread().runs[0]?.failed).toContain("credits");
  await clock.advance(60 * minute);
  expect([...api.runs.values()].map(({ state }) => state)).toEqual(["CANCELLED"]);
});

test("the card says meanwhile that the run is being looked for", async () => {
  const made = await cutAndLate(20_000);
  const { clock, slack } = made;
  await clock.advance(10_000);
  const shown = slack.tries.flatMap(({ effect }) =>
    effect.kind === "card" ? [JSON.stringify(effect.view)] : [],
  );
  expect(shown.at(-1)).toContain("making sure");
  await clock.advance(60_000);
  expect(made.api.count("create")).toBe(1);
});

test("a follow-up that reached the agent twice is told to its author, once", async () => {
  const made = await asked((made) => cutFirst(made, "followUp"));
  const { api, clock, engine } = made;
  const shownFrom = clock.now() + 5 * minute;
  const messages = api.messages.bind(api);
  api.messages = async (runId) => (clock.now() < shownFrom ? [] : messages(runId));
  await clock.advance(10_000);
  api.turn("run-1", "SUCCEEDED");
  await engine.accept(reply("with the new parser"));
  await clock.advance(90 * minute);
  expect(api.count("followUp")).toBe(2);
  const tells = made.slack.tries.flatMap(({ effect }) => (effect.kind === "tell" ? [effect] : []));
  expect(tells).toHaveLength(1);
  expect(JSON.stringify(tells[0]?.view)).toContain("twice");
  expect(made.thread().effects).toEqual([]);
});

test("a follow-up that can't be looked for is told to its author as unsure", async () => {
  const { api, clock, engine, slack } = await asked((made) => cutFirst(made, "followUp"));
  api.messages = async () => null;
  await clock.advance(10_000);
  await engine.accept(reply("with the new parser"));
  await clock.advance(90 * minute);
  expect(api.count("followUp")).toBe(1);
  const tells = slack.tries.flatMap(({ effect }) => (effect.kind === "tell" ? [effect] : []));
  expect(tells).toHaveLength(1);
  expect(JSON.stringify(tells[0]?.view)).toContain("can't tell whether your message reached the agent");
});

test("a create that failed for good, as it seems, is looked for before anybody is told", async () => {
  const made = await asked(({ api }) => {
    api.afterwards = (call) => {
      if (call === "create") throw new Refusal({ ...lost, status: 500, retryable: false });
    };
  });
  const { api, clock } = made;
  await clock.advance(2 * minute);
  expect(api.runs.size).toBe(1);
  expect(made.thread().runs).toMatchObject([{ runId: "run-1", failed: null }]);
});

test("a run that only quotes the dispatch's prompt is never cancelled as a twin", async () => {
  const { api, clock } = await asked((made) => cutFirst(made, "create"));
  await clock.advance(minute);
  const own = api.runs.get("run-1");
  api.add({ run_id: "quoting", prompt: `as asked:\n${own?.prompt}`, parent_run_id: "run-1" });
  api.add({ run_id: "copied", prompt: own?.prompt ?? "" });
  await clock.advance(70 * minute);
  expect([...api.runs.values()].map(({ state }) => state)).toEqual(["QUEUED", "QUEUED", "QUEUED"]);
});

test("a run that the dispatch's run started, with its metadata, is never cancelled as a twin", async () => {
  const { api, clock } = await asked((made) => cutFirst(made, "create"));
  await clock.advance(minute);
  const own = api.runs.get("run-1");
  if (own) api.add({ ...own, run_id: "run-1a", parent_run_id: "run-1", created_at: "2026-01-01T00:01:00Z" });
  await clock.advance(70 * minute);
  expect([...api.runs.values()].map(({ state }) => state)).toEqual(["QUEUED", "QUEUED"]);
});

test("a run stays that is taking a follow-up when its elder is found", async () => {
  const made = await cutAndLate(2 * minute);
  const { api, clock, engine } = made;
  await clock.advance(100_000);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  const taken = Promise.withResolvers<void>();
  api.before = (call) => (call === "followUp" ? taken.promise : undefined);
  await engine.accept(reply("with the new parser"));
  await clock.advance(4 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  taken.resolve();
  await clock.advance(60 * minute);
  expect(api.conversations.has("run-2")).toBe(true);
  expect([...api.runs.values()].map(({ state }) => state)).toEqual(["CANCELLED", "QUEUED"]);
});

test("a twin that can't be cancelled yet is cancelled at a later look, and holds up no other", async () => {
  const { api, clock } = await asked((made) => cutFirst(made, "create"));
  await clock.advance(10_000);
  const own = api.runs.get("run-1");
  for (const run_id of ["run-2", "run-3"])
    if (own) api.add({ ...own, run_id, created_at: "2026-01-01T00:05:00Z" });
  api.before = (call) => {
    if (call === "cancel" && api.count("cancel") === 1) throw new Refusal({ status: 409, retryable: true });
  };
  await clock.advance(70 * minute);
  expect([...api.runs.values()].map(({ state }) => state)).toEqual(["QUEUED", "CANCELLED", "CANCELLED"]);
});

test("a follow-up that waits in the queue of a run at work is not sent again", async () => {
  const { api, clock, engine } = await asked((made) => cutFirst(made, "followUp"));
  await clock.advance(10_000);
  const messages = api.messages.bind(api);
  const shownFrom = clock.now() + 10 * minute;
  api.messages = async (runId) => (clock.now() < shownFrom ? [] : messages(runId));
  await engine.accept(reply("with the new parser"));
  await clock.advance(30 * minute);
  expect(api.count("followUp")).toBe(1);
});

test("a run that people are cancelling stays theirs, so that their cancel is not undone by its elder", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock, engine } = made;
  await clock.advance(2 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  await engine.accept(mention("cancel", { first: false }));
  await clock.advance(60 * minute);
  expect([...api.runs.values()].map(({ state }) => state)).toEqual(["CANCELLED", "CANCELLED"]);
});

test("a follow-up is not given up while its run is not readable yet", async () => {
  const made = await asked((made) => cutFirst(made, "followUp"));
  const { api, clock, engine } = made;
  await clock.advance(10_000);
  const readableFrom = clock.now() + 20_000;
  api.before = (call) => {
    if (call !== "create" && call !== "list" && call !== "followUp" && clock.now() < readableFrom)
      throw new Refusal({ status: 404 });
  };
  await engine.accept(reply("with the new parser"));
  await clock.advance(10 * minute);
  const tells = made.slack.tries.filter(({ effect }) => effect.kind === "tell");
  expect(tells).toEqual([]);
  expect(api.count("followUp")).toBeGreaterThan(0);
});

test("twins are looked for again after an outage of the API", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock } = made;
  await clock.advance(80_000);
  expect(api.count("create")).toBe(2);
  const backAt = clock.now() + 20 * minute;
  api.before = () => {
    if (clock.now() < backAt) throw new Refusal({ certainty: "not-sent", retryable: false, reason: "Down." });
  };
  await clock.advance(60 * minute);
  expect([...api.runs.values()].map(({ state }) => state).toSorted()).toEqual(["CANCELLED", "QUEUED"]);
});

test("a run that took a follow-up while its elder was being looked for stays", async () => {
  const made = await cutAndLate(2 * minute);
  const { api, clock, engine } = made;
  await clock.advance(2 * minute);
  const list = api.list.bind(api);
  let sent = false;
  api.list = async (query) => {
    const page = await list(query);
    // A person writes between the look and its result.
    if (page.runs.length > 1 && !sent) {
      sent = true;
      await engine.accept(reply("with the new parser"));
      await clock.advance(1_000);
    }
    return page;
  };
  await clock.advance(62 * minute);
  expect(sent).toBe(true);
  expect(api.runs.get("run-1")?.state).toBe("CANCELLED");
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  expect(api.runs.get("run-2")?.state).not.toBe("CANCELLED");
});

test("a run stays once its end is decided to be told, though its elder appears before the answer is read", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock, slack } = made;
  await clock.advance(3.5 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  const readableFrom = clock.now() + 2 * minute;
  api.before = (call) => {
    if (call === "messages" && clock.now() < readableFrom) throw new Refusal({ ...lost, limited: true });
  };
  api.turn("run-2", "SUCCEEDED");
  await clock.advance(1.5 * minute);
  const replies = () => slack.tries.filter(({ effect }) => effect.kind === "reply");
  expect(replies()).toEqual([]);
  expect(api.runs.get("run-1")?.state).toBe("CANCELLED");
  await clock.advance(60 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  expect(replies()).toHaveLength(1);
});

test("the question of an elder that is found late is told at once", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock, slack } = made;
  await clock.advance(2 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  api.turn("run-1", "BLOCKED");
  await clock.advance(10 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-1");
  expect(slack.tries.filter(({ effect }) => effect.kind === "reply")).toHaveLength(1);
});

test("a run at work stays beside an elder that failed, which is told of in the log and counted once", async () => {
  const made = await cutAndLate(3 * minute);
  const { api, clock } = made;
  await clock.advance(2 * minute);
  api.turn("run-1", "ERROR");
  await clock.advance(62 * minute);
  expect(made.thread().runs[0]?.runId).toBe("run-2");
  expect(api.runs.get("run-2")?.state).toBe("QUEUED");
  expect(twinsSeen(made)).toBe(1);
});
