import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keyOf } from "#store/documents.ts";
import { placeOf } from "#test/kill/deeds/github.ts";
import { eventually } from "#test/support/eventually.ts";
import { type StoryTown, storyTown } from "./story-town.ts";

const documentOf = (town: StoryTown, thread: string): string =>
  join(town.dataDir, "threads", `${keyOf(thread)}.json`);

/** Makes all writes fail, and returns a function that ends this. */
function withoutRoom(town: StoryTown): () => void {
  const tmp = join(town.dataDir, "tmp");
  renameSync(tmp, `${tmp}.away`);
  writeFileSync(tmp, "");
  return () => {
    rmSync(tmp);
    renameSync(`${tmp}.away`, tmp);
  };
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
  expect(said).toMatch(/^The data folder \S+ is in use by another process \(pid \d+\)\. .*DATA_DIR.*\n$/);
  const { statuses, place } = await town.mention("alone, do:quick");
  expect(statuses).toEqual([200, 200]);
  await town.ends(place);
  // Killed, the first leaves no lock behind.
  await town.endBot("SIGKILL");
  await town.start();
  expect((await town.runsAbout("alone")).length).toBe(1);
});

test("while the disk is full nothing is acked, and repeated requests take effect once when there is room", async (context) => {
  const town = await storyTown(context);
  await town.start();
  const before = await town.mention("earlier, do:short");
  await eventually(
    "the earlier run",
    async () => (await town.runsAbout("earlier"))[0]?.state === "INPROGRESS",
  );
  const issue = await town.issue("waiting");

  const giveRoom = withoutRoom(town);
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
  expect((await town.posts(before.place)).filter(({ kind }) => kind === "reply")).toEqual([]);

  giveRoom();
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

test("a truncated write is not acked and damages no thread; once there is room the request takes effect", async (context) => {
  const town = await storyTown(context, { environment: { LOG_LEVEL: "error" } });
  // No file may grow beyond 48 blocks of 512 or 1024 bytes: the document of a long comment breaks off.
  await town.start(["/bin/sh", "-c", 'ulimit -f 48 && exec "$0" "$@"']);
  const issue = await town.issue("long");
  const short = await town.comment(issue, "/agent run short one, do:quick");
  expect(short.delivery.status).toBe(200);
  await town.ends(placeOf(issue));
  const long = await town.comment(issue, `/agent run long one, ${"word ".repeat(12_000)}, do:quick`);
  expect(long.delivery.status).toBe(503);
  const other = await town.mention("another, do:quick");
  expect(other.statuses).toEqual([200, 200]);
  await town.ends(other.place);
  expect(await town.runsAbout("long one")).toEqual([]);
  expect(await town.endBot("SIGTERM")).toBe(0);

  await town.start();
  await town.github.redeliver(long.delivery.guid);
  expect((await town.ends(placeOf(issue), 2)).length).toBe(2);
  expect((await town.runsAbout("long one, word")).length).toBe(1);
});

test("damaged documents are set aside and reported, at the start and later, and affect nothing else", async (context) => {
  const town = await storyTown(context, { retryDelaysMs: [50] });
  await town.start();
  const torn = await town.mention("torn, do:slow");
  const foreign = await town.mention("foreign, do:quick");
  const later = await town.mention("later, do:quick");
  const whole = await town.mention("whole, do:quick");
  for (const { place } of [foreign, later, whole]) await town.ends(place);
  await town.endBot("SIGKILL");

  const half = readFileSync(documentOf(town, torn.place), "utf8");
  writeFileSync(documentOf(town, torn.place), half.slice(0, half.length / 2));
  writeFileSync(documentOf(town, foreign.place), readFileSync(documentOf(town, whole.place)));
  writeFileSync(join(town.dataDir, "threads", "notes.txt"), "not a thread");
  await town.start();
  await eventually("the torn one's report", () => town.log().includes("it was set aside"));
  expect(town.log()).toContain(keyOf(torn.place));
  writeFileSync(documentOf(town, later.place), "");

  for (const { ts } of [torn, foreign, later]) {
    const { statuses } = await town.reply(ts, "and this, do:quick");
    // What can't be taken in is not acked: Slack comes again, and says so in the end.
    expect(statuses).toEqual([503, 503]);
  }
  expect((await town.reply(whole.ts, "and this, do:quick")).statuses).toEqual([200]);
  await town.ends(whole.place, 2);
  const fresh = await town.mention("fresh, do:quick");
  await town.ends(fresh.place);
  expect(readdirSync(join(town.dataDir, "broken")).toSorted()).toEqual(
    [torn, foreign, later].map(({ place }) => `${keyOf(place)}.json`).toSorted(),
  );
  expect(town.log().match(/it was set aside/g)).toHaveLength(3);
  expect(await town.endBot("SIGTERM")).toBe(0);
});
