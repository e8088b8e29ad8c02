import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, test } from "vitest";
import { databaseName } from "#store/open-store.ts";
import { placeOf } from "#test/kill/deeds/github.ts";
import { eventually } from "#test/support/eventually.ts";
import { type StoryTown, storyTown } from "./story-town.ts";

/** Returns rows of the bot's database; `sql` may also change them. */
function rowsIn(town: StoryTown, sql: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
  using database = new DatabaseSync(join(town.dataDir, databaseName), { timeout: 5_000 });
  return database.prepare(sql).all(...values);
}

const documentOf = (town: StoryTown, thread: string): string =>
  String(rowsIn(town, "SELECT document FROM thread WHERE id = ?", thread)[0]?.document);

const overwrite = (town: StoryTown, thread: string, document: string): unknown =>
  rowsIn(town, "UPDATE thread SET document = ? WHERE id = ?", document, thread);

/** Locks the database against writes; the returned function unlocks it. */
function preventWrites(town: StoryTown): () => void {
  const database = new DatabaseSync(join(town.dataDir, databaseName), { timeout: 5_000 });
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

const readiness = async (town: StoryTown): Promise<{ status: number; body: string }> => {
  const response = await fetch(`${town.botUrl()}/readyz`);
  return { status: response.status, body: await response.text() };
};

test("a second bot on the same data exits with an explanation, and the first keeps working", async (context) => {
  const town = await storyTown(context);
  await town.start();
  const second = town.launch([], "second.log");
  expect(await second.ended).toBe(1);
  const said = readFileSync(join(town.folder, "second.log"), "utf8");
  expect(said).toMatch(/^The folder \S+ is in use by process \d+\. .*DATA_DIR.*\n$/);
  const { statuses, place } = await town.mention("alone, do:quick");
  expect(statuses).toEqual([200, 200]);
  await town.ends(place);
  // A killed bot leaves no lock behind.
  await town.endBot("SIGKILL");
  await town.start();
  expect((await town.runsAbout("alone")).length).toBe(1);
});

test("events that can't be saved are not acked, and take effect once later", async (context) => {
  const town = await storyTown(context);
  await town.start();
  const before = await town.mention("earlier, do:short");
  await eventually(
    "the earlier run",
    async () => (await town.runsAbout("earlier"))[0]?.state === "INPROGRESS",
  );
  const issue = await town.issue("waiting");

  const permitWrites = preventWrites(town);
  const { id, delivery } = await town.comment(issue, "/agent run later, do:quick");
  expect(delivery.status).toBe(503);
  const slash = await town.slack.slash({ user: "alice", channel: "general", text: "run never, do:quick" });
  expect(slash.status).toBe(503);
  const mention = town.mention("afterwards, do:quick");
  // The run ends while its end can't be saved.
  await eventually(
    "the earlier end",
    async () => (await town.runsAbout("earlier"))[0]?.state === "SUCCEEDED",
  );
  const down = await eventually("the store to be named", async () => {
    const seen = await readiness(town);
    return seen.body.includes("The store could not") ? seen : null;
  });
  expect(down.status).toBe(503);
  expect(town.posts(before.place).filter(({ kind }) => kind === "reply")).toEqual([]);

  permitWrites();
  const { statuses, place } = await mention;
  expect(statuses).toContain(503);
  expect(statuses.at(-1)).toBe(200);
  expect((await town.github.redeliver(delivery.guid)).status).toBe(200);
  expect((await town.github.redeliver(delivery.guid)).status).toBe(200);
  for (const where of [before.place, place, placeOf(issue)]) expect((await town.ends(where)).length).toBe(1);
  await eventually("readiness", async () => (await readiness(town)).status === 200);
  for (const word of ["earlier", "later", "afterwards"]) {
    expect((await town.runsAbout(word)).length, word).toBe(1);
  }
  // Slack delivers a slash command only once.
  expect(await town.runsAbout("never")).toEqual([]);
  expect((await town.runsAbout("later"))[0]?.metadata).toMatchObject({
    "agent-runs-bot.dispatch": `github:comment:${id}`,
  });
  expect(await town.endBot("SIGTERM")).toBe(0);
});

test("a truncated write is not acked and damages no thread; the request takes effect once there is space", async (context) => {
  const town = await storyTown(context, { environment: { LOG_LEVEL: "error" } });
  await town.start();
  const issue = await town.issue("long");
  const short = await town.comment(issue, "/agent run short one, do:quick");
  expect(short.delivery.status).toBe(200);
  await town.ends(placeOf(issue));
  expect(await town.endBot("SIGTERM")).toBe(0);

  // No file may grow beyond 128 blocks of 512 bytes, so the document of a long comment is truncated.
  await town.start(["/bin/sh", "-c", 'ulimit -f 128 && exec "$0" "$@"']);
  const long = await town.comment(issue, `/agent run long one, ${"word ".repeat(12_000)}, do:quick`);
  expect(long.delivery.status).toBe(503);
  // Smaller writes succeed.
  expect(JSON.parse((await readiness(town)).body)).toMatchObject({ store: "ok" });
  expect(await town.runsAbout("long one")).toEqual([]);
  expect(await town.endBot("SIGTERM")).toBe(0);

  await town.start();
  await town.github.redeliver(long.delivery.guid);
  expect((await town.ends(placeOf(issue), 2)).length).toBe(2);
  expect((await town.runsAbout("long one, word")).length).toBe(1);
});

test("torn and foreign documents are set aside and reported, and other threads keep working", async (context) => {
  const town = await storyTown(context, { retryDelaysMs: [50] });
  await town.start();
  const torn = await town.mention("torn, do:slow");
  const foreign = await town.mention("foreign, do:quick");
  const whole = await town.mention("whole, do:quick");
  for (const { place } of [foreign, whole]) await town.ends(place);
  await town.endBot("SIGKILL");

  const half = documentOf(town, torn.place);
  overwrite(town, torn.place, half.slice(0, half.length / 2));
  overwrite(town, foreign.place, documentOf(town, whole.place));
  await town.start();
  await eventually("the torn one's report", () => town.log().includes("was set aside"));
  expect(town.log()).toContain(torn.place);

  for (const { ts } of [torn, foreign]) {
    const { statuses } = await town.reply(ts, "and this, do:quick");
    // The event is not acked: Slack delivers it again and finally reports the failure.
    expect(statuses).toEqual([503, 503]);
  }
  expect((await town.reply(whole.ts, "and this, do:quick")).statuses).toEqual([200]);
  await town.ends(whole.place, 2);
  const fresh = await town.mention("fresh, do:quick");
  await town.ends(fresh.place);
  expect(rowsIn(town, "SELECT id FROM broken ORDER BY number")).toEqual(
    [torn, foreign].map(({ place }) => ({ id: place })),
  );
  expect(town.log().match(/can't be read and was set aside/g)).toHaveLength(2);
  expect(await town.endBot("SIGTERM")).toBe(0);
});

test("a damaged database is set aside at the start with a sentence, and its readable threads continue", async (context) => {
  const town = await storyTown(context, { retryDelaysMs: [50] });
  await town.start();
  const ended = await town.mention("ended, do:quick");
  await town.ends(ended.place);
  await town.endBot("SIGKILL");
  // Merges the log that the killed bot left into the database before damaging its index.
  rowsIn(town, "PRAGMA wal_checkpoint(TRUNCATE)");
  const [index] = rowsIn(town, "SELECT rootpage FROM sqlite_schema WHERE name = 'thread_settled'");
  const file = join(town.dataDir, databaseName);
  const bytes = readFileSync(file);
  const page = 4_096 * (Number(index?.rootpage) - 1);
  writeFileSync(file, bytes.fill(0xa5, page, page + 4_096));

  await town.start();
  expect(town.log()).toContain("The threads' database was damaged; it was set aside");
  expect(readdirSync(join(town.dataDir, "damaged-threads"))).toContain(databaseName);
  expect((await town.reply(ended.ts, "and this, do:quick")).statuses).toEqual([200]);
  expect((await town.ends(ended.place, 2)).length).toBe(2);
  const fresh = await town.mention("fresh, do:quick");
  await town.ends(fresh.place);
  expect((await town.runsAbout("ended")).length).toBe(1);
  expect(await town.endBot("SIGTERM")).toBe(0);
});
