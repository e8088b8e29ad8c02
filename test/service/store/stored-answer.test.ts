import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Run } from "#service/run/run-document.ts";
import { createRunStore, type RunStore } from "#service/store/run-store.ts";
import { runItemOf } from "#service/store/run-wire.ts";
import { answerOf, wireRowOf } from "#service/store/stored-answer.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { silentLog } from "#test/support/logs.ts";
import { documentOf, openStore } from "#test/support/service/stored-runs.ts";

const link = 'http://127.0.0.1/sessions/x?key=\u00fc"k';

/** All that a run can have. */
const { run: rich } = documentOf(
  1,
  {
    prompt: `"state":"x","prompt":"y" \ud83d\ude00 \u2028 \ud800 ${"long \u00e4 ".repeat(900)}`,
    title: "\u2026",
    config: { name: "n\u00fc", model_id: "large", environment_id: "e" },
    metadata: { 'session_link":': "\\", prompt: "no" },
    skill: "octo/app:skill",
    conversation_id: "other",
  },
  {
    state: "FAILED",
    startedAt: 1_800_000_000_000,
    workedMs: 3_723_004,
    parentRunId: "parent",
    statusMessage: { message: "It failed.", error_code: "internal_error", retryable: false },
    artifacts: [
      { kind: "pull_request", url: "https://example.org/1", branch: "fix", at: 1_800_000_000_000 },
      {
        kind: "file",
        uid: "f",
        name: "a.txt",
        path: "/tmp/a.txt",
        mime: "text/plain",
        bytes: 3,
        at: 1_800_000_000_000,
      },
    ],
  },
);

const plain: Run = documentOf(2, { prompt: "hello" }).run;

const sentOf = (runs: RunStore, id: string): unknown => {
  const answer = runs.answer(id, () => link);
  return answer === null ? null : JSON.parse(Buffer.from(answer).toString());
};

test("what answers from a row is the run in the words of the wire, and the row still holds the run", () => {
  for (const run of [rich, plain]) {
    const row = wireRowOf(run);
    expect(JSON.parse(answerOf(run.id, row)?.withLink(link) ?? "")).toEqual(
      JSON.parse(JSON.stringify(runItemOf(run, link))),
    );
    expect(JSON.parse(row.run)).toEqual(JSON.parse(JSON.stringify(run)));
  }
});

test("whoever changes how a run is written on the wire changes the version of what is kept", () => {
  // If this fails, raise `wireVersion`, so that no row written before answers, and put the new sum here.
  expect(wireRowOf(rich).sum).toBe(2_742_538_143);
});

test("a row of which a part was changed answers nothing", () => {
  const row = wireRowOf(rich);
  const changed = [
    { run: row.run.slice(0, -2) },
    { run: row.run.replace("long", "lung") },
    { wire: row.wire.replace("LOCAL", "local") },
    { secret: "another" },
    { sum: row.sum + 1 },
    { sum: null },
    { run: null },
  ];
  for (const change of changed) expect(answerOf(rich.id, { ...row, ...change })).toBeNull();
});

test("runs that an earlier format wrote answer as all others, and can be changed", async () => {
  const folder = await freshFolder();
  const first = createRunStore(folder, Date.now, silentLog);
  await first.load();
  await first.add({ ...documentOf(1, { prompt: "x" }), run: rich });
  await first.add(documentOf(2, { prompt: "hello" }));
  await first.close();
  const database = new DatabaseSync(join(folder, "runs.db"));
  for (const column of ["wire", "secret", "tail", "sum"])
    database.exec(`ALTER TABLE item DROP COLUMN ${column}`);
  database.exec("PRAGMA user_version = 1");
  database.close();

  const runs = await openStore({ folder });

  for (const run of [rich, plain]) {
    expect(sentOf(runs, run.id)).toEqual(JSON.parse(JSON.stringify(runItemOf(run, link))));
  }
  await runs.change(plain.id, (before) => ({
    document: { ...before, run: { ...before.run, state: "INPROGRESS" } },
    result: null,
  }));
  expect(sentOf(runs, plain.id)).toMatchObject({ state: "INPROGRESS", prompt: "hello" });
});

test("however often a run is asked for, what answers is as it is on the disk now", async () => {
  const runs = await openStore();
  await runs.add(documentOf(2, { prompt: "hello" }));
  for (const state of ["PENDING", "CLAIMED", "INPROGRESS"] as const) {
    await runs.change(plain.id, (before) => ({
      document: { ...before, run: { ...before.run, state } },
      result: null,
    }));
    for (let time = 0; time < 4; time += 1) expect(sentOf(runs, plain.id)).toMatchObject({ state });
  }
  expect(sentOf(runs, "nobody")).toBeNull();
});
