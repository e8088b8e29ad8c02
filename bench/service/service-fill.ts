/** Runs for the measurements, written as the service writes them, but in one transaction. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CreateRequest } from "#agent-runs/schema.ts";
import { connect, statementRunner } from "#disk/database.ts";
import { newRun } from "#service/run/new-run.ts";
import type { RunDocument } from "#service/run/run-document.ts";
import { openRuns } from "#service/store/run-database.ts";
import { putRunRows } from "#service/store/run-rows.ts";

export const apiKey = "key-of-the-bench";
/** Of the first run that was laid down. */
export const firstDay = Date.UTC(2026, 0, 1);
/** Between one run and the next. */
export const betweenMs = 60_000;

export const idOf = (index: number): string =>
  `0198c0de-0000-4000-8000-${String(index * 7919).padStart(12, "0")}`;

const words =
  "please fix the flaky test of the parser it fails once in twenty runs only on slow machines look at the timer that is not cleared and keep the public names as they are then run all tests again and tell what you changed and why".split(
    " ",
  );

/** Returns 1 to 4 kB of words, different each time; each thousandth text has a word that the others lack. */
function promptOf(index: number): string {
  const text: string[] = index % 1000 === 0 ? ["Zebra:"] : [];
  const length = 1_000 + ((index * 7919) % 3_000);
  for (let size = 0, at = index; size < length; at += 1 + (index % 7)) {
    const word = words[at % words.length] ?? "";
    text.push(word);
    size += word.length + 1;
  }
  return `${text.join(" ")}, for ticket ${index}.`;
}

const repositories = ["octo/app", "octo/api", "octo/site", "octo/tools", "octo/docs"];

export const requestOf = (index: number): CreateRequest => ({
  prompt: promptOf(index),
  config: {
    name: `team-${index % 20}`,
    model_id: index % 3 === 0 ? "large" : "small",
    ...(index % 4 === 0 ? { environment_id: `environment-${index % 12}` } : {}),
  },
  metadata: {
    "agent-runs-bot.dispatch": `github:comment:${1_000_000 + index}`,
    repository: repositories[index % repositories.length] ?? "",
    requester: `user-${index % 200}`,
  },
});

const ends = ["SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED", "SUCCEEDED"] as const;

/** A run that was given its prompt and has ended with an answer. */
function endedRun(index: number): RunDocument {
  const now = firstDay + index * betweenMs;
  const birth = { id: idOf(index), order: index + 1, now, sessionKey: `v2.${"k".repeat(32)}`, earlier: [] };
  const { waiting, run, ...rest } = newRun(requestOf(index), birth);
  return {
    ...rest,
    run: {
      ...run,
      state: ends[(index * 13) % ends.length] ?? "SUCCEEDED",
      startedAt: now + 1_000,
      updatedAt: now + 60_000 + ((index * 7919) % 600_000),
      workedMs: 59_000,
    },
    said: [
      ...waiting.map((said) => ({ role: "user" as const, turn: 1, ...said })),
      { role: "assistant", at: now + 60_000, turn: 1, text: "Done: the timer is cleared now. ".repeat(20) },
    ],
    waiting: [],
    turn: 1,
    turnBegan: null,
  };
}

/** Writes that many runs to the data folder of a service. */
export async function fillRuns(dataDir: string, count: number): Promise<void> {
  const folder = join(dataDir, "service");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "runs.db");
  (await openRuns(path)).close();
  const database = connect(path);
  database.exec("PRAGMA synchronous = OFF");
  const run = statementRunner(database);
  const atOnce = 1_000;
  for (let from = 0; from < count; from += atOnce) {
    database.exec("BEGIN");
    for (let at = from; at < Math.min(count, from + atOnce); at += 1) run(putRunRows(null, endedRun(at)));
    database.exec("COMMIT");
  }
  database.close();
}
