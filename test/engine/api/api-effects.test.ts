import { expect, test } from "vitest";
import type { ApiEffect, Effect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { withReference } from "#core/prompt.ts";
import { dispatchKey, type Run, scopeKey } from "#core/run.ts";
import type { RunRecord, Thread } from "#core/thread.ts";
import type { ApiFault } from "#ports.ts";
import { command, create, followUp, type SetUp, setUp, since } from "#test/support/engine/set-up.ts";
import { newRecord, newThread, requestOf } from "#test/support/engine/small-decide.ts";
import { Refusal } from "#test/support/engine/stand-in-api.ts";

/** Performs the effects in a thread with the run `run-1`, and returns their first outcomes. */
const perform = (made: SetUp, ...effects: Effect[]): Promise<Outcome[]> => performAfter(made, {}, ...effects);

/** `answered`: of the run's record. `seen`: of the thread. */
async function performAfter(
  made: SetUp,
  { answered, seen = [] }: Pick<RunRecord, "answered"> & Partial<Pick<Thread, "seen">>,
  ...effects: Effect[]
): Promise<Outcome[]> {
  const { store, engine, ask, clock, small } = made;
  const record = newRecord("d0", { runId: "run-1", open: false, ...(answered ? { answered } : {}) });
  store.put(newThread("chat:a", { runs: [record, newRecord("d9", { open: false })], seen }));
  await engine.start();
  await ask("chat:a", ...effects);
  await clock.advance(0);
  return small.outcomes.map(({ outcome }) => outcome);
}

const asked = command("chat:a");
const common = { to: "agent-runs" as const, since, tries: 0 };
const cancel: ApiEffect = { ...common, kind: "cancel", id: "x1", dispatch: "d0", asked };
const fetch: ApiEffect = { ...common, kind: "fetch", id: "x2", runId: "run-1", asked };
const list: ApiEffect = { ...common, kind: "list", id: "x4", asked };
const answer: ApiEffect = {
  ...common,
  kind: "answer",
  id: "x3",
  dispatch: "d0",
  // The last look at a conversation that may lag.
  tries: 6,
  run: { run_id: "run-1", title: "t", state: "SUCCEEDED", created_at: since, updated_at: since },
};

function failing(made: SetUp, fault: Partial<ApiFault> | Error): SetUp {
  made.api.before = () => {
    throw fault instanceof Error ? fault : new Refusal(fault);
  };
  return made;
}

test("a dispatch creates a run from its record's request, with the reference line", async () => {
  const made = setUp();
  expect(await perform(made, create("d1"))).toEqual([
    { ok: true, kind: "create", runId: "run-1", state: "QUEUED" },
  ]);
  expect(made.api.runs.get("run-1")).toMatchObject({
    prompt: withReference(requestOf("d1").prompt, "d1"),
    metadata: { [dispatchKey]: "d1" },
  });
  expect(made.api.calls[0]).toBe("create");
});

test("a dispatch to a factory sends the prompt to the factory of that name", async () => {
  const made = setUp();
  made.api.factoryUids.set("fixers", "f-1");
  made.small.records.set("d1", { factory: "fixers" });
  const outcomes = await perform(made, create("d1"));
  expect(outcomes).toMatchObject([{ ok: true, runId: "run-1" }]);
  expect(made.api.calls[0]).toBe("dispatchToFactory");
  expect(made.api.count("create")).toBe(0);
});

test("a dispatch to a factory that does not exist is refused by its name", async () => {
  const made = setUp();
  made.small.records.set("d1", { factory: "nobody" });
  const outcomes = await perform(made, create("d1"));
  expect(outcomes).toMatchObject([{ ok: false, fault: { certainty: "refused", retryable: false } }]);
  expect(JSON.stringify(outcomes)).toContain("nobody");
});

test("a follow-up is sent unchanged to the run of its dispatch", async () => {
  const made = setUp();
  made.api.add({ run_id: "run-1" });
  const effect = followUp("f1", "d0");
  expect(await perform(made, effect)).toEqual([{ ok: true, kind: "follow-up" }]);
  expect(made.api.conversations.get("run-1")).toEqual([{ role: "user", text: effect.message }]);
});

test("an effect for a dispatch without a run is refused", async () => {
  const outcomes = await perform(setUp(), followUp("f1", "d9"));
  expect(outcomes).toMatchObject([{ fault: { certainty: "refused", retryable: false } }]);
});

test("a refused cancel succeeds if the run has ended, and fails if it still works", async () => {
  const cancelIn = async (state: string): Promise<Outcome[]> => {
    const made = setUp();
    made.api.add({ run_id: "run-1", state });
    made.api.before = (call) => {
      if (call === "cancel") throw new Refusal({ status: 400, code: "invalid_request", reason: "Not now." });
    };
    return perform(made, cancel);
  };
  expect(await cancelIn("SUCCEEDED")).toEqual([{ ok: true, kind: "cancel" }]);
  expect(await cancelIn("INPROGRESS")).toMatchObject([
    { fault: { certainty: "refused", reason: "Not now." } },
  ]);
});

test("a cancel that is refused for another reason fails", async () => {
  const made = failing(setUp(), { status: 400, code: "integration_not_configured" });
  expect(await perform(made, cancel)).toMatchObject([{ fault: { code: "integration_not_configured" } }]);
});

test("a run that is still being prepared is cancelled as soon as it can be", async () => {
  const made = setUp();
  made.api.add({ run_id: "run-1" });
  made.api.before = () => {
    if (made.api.count("cancel") === 1) throw new Refusal({ status: 409, code: "conflict", retryable: true });
  };
  await perform(made, cancel);
  await made.clock.advance(1_000);
  expect(made.api.runs.get("run-1")?.state).toBe("CANCELLED");
});

test("a run that can't be cancelled goes on, and the reason is reported", async () => {
  const made = failing(setUp(), {
    status: 422,
    code: "operation_not_supported",
    reason: "Not this kind of run.",
  });
  expect(await perform(made, cancel)).toMatchObject([
    { fault: { certainty: "refused", retryable: false, reason: "Not this kind of run." } },
  ]);
});

test("a run is fetched, and one that the API does not know is null", async () => {
  const made = setUp();
  expect(await perform(made, fetch)).toEqual([{ ok: true, kind: "fetch", run: null }]);
  const other = setUp();
  const run = other.api.add({ run_id: "run-1" });
  expect(await perform(other, fetch)).toEqual([{ ok: true, kind: "fetch", run }]);
});

test("the answer is the assistant's last message", async () => {
  const made = setUp();
  made.api.conversations.set("run-1", [
    { role: "assistant", text: "first" },
    { role: "assistant", text: "last" },
    { role: "assistant", text: " " },
    { role: "user", text: "thanks" },
  ]);
  expect(await perform(made, answer)).toMatchObject([{ ok: true, kind: "answer", text: "last" }]);
});

test("an earlier turn's answer is never reported as a later one's", async () => {
  const made = setUp();
  made.api.conversations.set("run-1", [
    { role: "user", text: "fix it" },
    { role: "assistant", text: "fixed" },
    { role: "user", text: "and the docs" },
    { role: "assistant", text: "" },
  ]);
  expect(await perform(made, answer)).toMatchObject([{ ok: true, kind: "answer", text: null }]);
});

test("an end that is read late is reported with its own answer, not with that of a later turn", async () => {
  const spoken = [
    { role: "user", text: "fix it", at: "2026-01-01T00:00:01.000Z" },
    { role: "assistant", text: "fixed", at: "2026-01-01T00:00:09.500Z" },
    { role: "user", text: "and the docs", at: "2026-01-01T00:00:10.001Z" },
    { role: "assistant", text: "", at: "2026-01-01T00:00:10.002Z" },
  ];
  const readAt = async (updated_at: string): Promise<Outcome[]> => {
    const made = setUp();
    made.api.conversations.set("run-1", spoken);
    return perform(made, { ...answer, run: { ...answer.run, updated_at } });
  };
  expect(await readAt("2026-01-01T00:00:09.501Z")).toMatchObject([
    { ok: true, kind: "answer", text: "fixed" },
  ]);
  expect(await readAt("2026-01-01T00:00:12.501Z")).toMatchObject([{ ok: true, kind: "answer", text: null }]);
  // A time in whole seconds stands for any time within the second.
  expect(await readAt("2026-01-01T00:00:10Z")).toMatchObject([{ ok: true, kind: "answer", text: null }]);
});

test("where the API's clock was set back, the run itself tells whether it is still in that end", async () => {
  const spoken = [
    { role: "user", text: "fix it", at: "2026-01-01T00:02:01Z" },
    { role: "assistant", text: "fixed", at: "2026-01-01T00:02:09Z" },
    { role: "user", text: "and the docs", at: "2026-01-01T00:02:10Z" },
    { role: "assistant", text: "documented", at: "2026-01-01T00:00:12Z" },
  ];
  const end = { ...answer.run, updated_at: "2026-01-01T00:00:12Z" };
  const readWhile = async (now: Partial<Run>): Promise<Outcome[]> => {
    const made = setUp();
    made.api.conversations.set("run-1", spoken);
    made.api.add({ ...end, ...now });
    return perform(made, { ...answer, run: end });
  };
  expect(await readWhile({})).toMatchObject([{ ok: true, kind: "answer", text: "documented" }]);
  expect(await readWhile({ state: "INPROGRESS" })).toMatchObject([
    { ok: true, kind: "answer", text: "fixed" },
  ]);
});

test("an answer whose place the times don't tell is reported although its run can't be read", async () => {
  const made = setUp();
  made.api.conversations.set("run-1", [
    { role: "user", text: "fix it", at: "2026-01-01T00:02:01Z" },
    { role: "assistant", text: "I begin", at: "2026-01-01T00:02:09Z" },
    { role: "assistant", text: "fixed", at: "2026-01-01T00:00:12Z" },
  ]);
  const end = { ...answer.run, state: "ERROR" };
  expect(await perform(made, { ...answer, run: end })).toMatchObject([
    { ok: true, kind: "answer", text: "fixed" },
  ]);
});

test("an end that may have been told is not told with the answer of an end that came while a limit lasted", async () => {
  const readAt = async (updated_at: string): Promise<Outcome[]> => {
    const made = setUp();
    made.api.conversations.set("run-1", [
      { role: "user", text: "fix it", at: "2026-01-01T00:00:01Z" },
      { role: "assistant", text: "Which one?", at: "2026-01-01T00:00:09Z" },
      { role: "user", text: "the first", at: "2026-01-01T00:00:20Z" },
      { role: "assistant", text: "fixed", at: "2026-01-01T00:00:29Z" },
    ]);
    const run = { ...answer.run, state: "BLOCKED", updated_at };
    return performAfter(made, { answered: 2 }, { ...answer, reported: "perhaps", tries: 1, run });
  };
  expect(await readAt("2026-01-01T00:00:09.100Z")).toMatchObject([{ ok: true, text: null, answered: 2 }]);
  expect(await readAt("2026-01-01T00:00:29.100Z")).toMatchObject([{ ok: true, text: "fixed", answered: 4 }]);
});

test("an end in another state that was passed over by a later report has its own answer at once", async () => {
  const made = setUp();
  made.api.conversations.set("run-1", [
    { role: "user", text: "fix it", at: "2026-01-01T00:00:01Z" },
    { role: "assistant", text: "it failed", at: "2026-01-01T00:00:09Z" },
    { role: "user", text: "try again", at: "2026-01-01T00:00:20Z" },
    { role: "assistant", text: "Which one?", at: "2026-01-01T00:00:29Z" },
  ]);
  const run = { ...answer.run, state: "FAILED", updated_at: "2026-01-01T00:00:09.100Z" };
  expect(await performAfter(made, { answered: 4 }, { ...answer, run })).toMatchObject([
    { ok: true, text: "it failed", answered: 4 },
  ]);
});

test("a turn cancelled before it began does not get the previous turn's answer", async () => {
  const fixed = { role: "assistant", text: "fixed", at: "2026-01-01T00:00:09Z" };
  const said = (at: string) => ({ role: "user", text: "and the docs", at });
  const end = { ...answer, run: { ...answer.run, updated_at: "2026-01-01T00:00:20Z" } };
  const read = async (followUp: ReturnType<typeof said>): Promise<Outcome[]> => {
    const made = setUp();
    made.api.conversations.set("run-1", [said("2026-01-01T00:00:01Z"), fixed, followUp]);
    return perform(made, end);
  };
  expect(await read(said("2026-01-01T00:00:15Z"))).toMatchObject([{ ok: true, kind: "answer", text: null }]);
  // A message during the turn waits for the next one; the agent's text still belongs to this turn.
  expect(await read(said("2026-01-01T00:00:05Z"))).toMatchObject([
    { ok: true, kind: "answer", text: "fixed" },
  ]);
});

test("a run without a conversation has no answer", async () => {
  expect(await perform(setUp(), answer)).toMatchObject([{ ok: true, kind: "answer", text: null }]);
});

test("a scope's runs of any name are listed, newest first, past pages of others", async () => {
  const made = setUp();
  const metadata = { [scopeKey]: asked.scope };
  made.api.pageSize = 5;
  made.api.add({ run_id: "run-1", created_at: "2026-01-01T00:00:01Z", metadata });
  made.api.add({
    run_id: "run-2",
    created_at: "2026-01-01T00:00:02Z",
    metadata,
    agent_config: { name: "x" },
  });
  for (let n = 0; n < 9; n += 1) made.api.add({ run_id: `theirs-${n}`, created_at: "2026-01-01T00:00:03Z" });
  const [outcome] = await perform(made, list);
  if (outcome?.ok !== true || outcome.kind !== "list") throw new Error("nothing was listed");
  expect(outcome.runs.map(({ run_id }) => run_id)).toEqual(["run-2", "run-1"]);
  expect(made.api.count("list")).toBe(3);
});

test("the fault of a failed call has the API's sentence, its code and the link to fix it", async () => {
  const made = failing(setUp(), {
    status: 401,
    code: "external_authentication_required",
    reason: "Connect your account.",
    link: "https://example.com/connect",
  });
  expect(await perform(made, create("d1"))).toEqual([
    {
      ok: false,
      fault: {
        certainty: "refused",
        retryable: false,
        reason: "Connect your account.",
        code: "external_authentication_required",
        link: "https://example.com/connect",
      },
    },
  ]);
});

test("an error without the fields of a fault has an unknown outcome and is tried again", async () => {
  const made = failing(setUp(), new TypeError("x is not a function"));
  const [outcome] = await perform(made, create("d1"));
  expect(outcome).toMatchObject({ fault: { certainty: "unknown", retryable: true } });
  expect(JSON.stringify(outcome)).not.toContain("not a function");
});

test("a conversation that may lag is read again before a run counts as silent", async () => {
  const first = { ...answer, tries: 0 };
  expect(await perform(setUp(), first)).toMatchObject([{ ok: false, fault: { retryable: true } }]);
  const cancelled = { ...first, run: { ...answer.run, state: "CANCELLED" } };
  expect(await perform(setUp(), cancelled)).toMatchObject([{ ok: true, kind: "answer", text: null }]);
});

test("an answer from before the last follow-up is not taken for the answer to it", async () => {
  const made = setUp();
  made.api.conversations.set("run-1", [
    { role: "user", text: "fix it" },
    { role: "assistant", text: "fixed" },
  ]);
  const outcomes = await perform(made, { ...answer, tries: 0, followUp: "f1" });
  expect(outcomes).toMatchObject([{ ok: false, fault: { retryable: true } }]);
});

test("the answer that was reported with an earlier end is never reported again with a later one", async () => {
  const read = (more: Partial<typeof answer>): Promise<Outcome[]> => {
    const made = setUp();
    made.api.conversations.set("run-1", [
      { role: "user", text: "fix it" },
      { role: "assistant", text: "which one?" },
    ]);
    return performAfter(made, { answered: 2 }, { ...answer, ...more });
  };
  expect(await read({ tries: 0 })).toMatchObject([{ ok: false, fault: { retryable: true } }]);
  expect(await read({ tries: 6 })).toMatchObject([{ ok: true, text: null, answered: 2 }]);
  // The run may go on while an end that may have been told waits.
  expect(await read({ tries: 0, reported: "perhaps" })).toMatchObject([
    { ok: true, text: null, answered: 2 },
  ]);
  const run = { ...answer.run, state: "CANCELLED" };
  expect(await read({ tries: 0, run })).toMatchObject([{ ok: true, kind: "answer", text: null }]);
});

test("a later follow-up's answer is not reported with an end that was seen before it", async () => {
  const read = (id: string): Promise<Outcome[]> => {
    const made = setUp();
    made.api.conversations.set("run-1", [
      { role: "user", text: "fix it" },
      { role: "assistant", text: "fixed" },
      { role: "user", text: withReference("and the docs", id) },
      { role: "assistant", text: "and documented" },
    ]);
    return performAfter(made, { seen: ["chat:m1"] }, { ...answer, id: "d0/answer/5" });
  };
  expect(await read("chat:m1/follow-up/6")).toMatchObject([{ text: "fixed", answered: 2 }]);
  expect(await read("chat:m1/follow-up/4")).toMatchObject([{ text: "and documented", answered: 4 }]);
  // Another bot's.
  expect(await read("chat:m2/follow-up/6")).toMatchObject([{ text: "and documented" }]);
});
