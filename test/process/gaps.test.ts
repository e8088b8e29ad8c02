/** What can't be read back of the time while the bot was away is told in `/readyz` and in the next greeting. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { databaseName } from "#store/open-store.ts";
import { startWorld } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

type World = Awaited<ReturnType<typeof startWorld>>;

const readiness = async (world: World): Promise<{ status: number; body: Record<string, string> }> => {
  const response = await fetch(`${world.botUrl()}/readyz`);
  return { status: response.status, body: await response.json() };
};
const gapIn = (world: World, name: string): Promise<string> =>
  eventually(`the gap of ${name}`, async () => {
    const { status, body } = await readiness(world);
    expect(status).toBe(200);
    return body[name] ?? null;
  });

test("a channel in Slack without a scope, and a repository without access, are told until they can be read", async (context) => {
  const world = await startWorld(context);
  const { slack, github } = world;
  const { ts } = await slack.say({ user: "alice", channel: "general", text: "<@UBOT> say hello" });
  const { number: issue } = await github.openIssue({ user: "bob", repo: "octo/app", title: "One", body: "" });
  await github.comment({ user: "alice", repo: "octo/app", issue, body: "/agent run say hello" });
  await eventually(
    "the ends",
    () => world.thread("general", ts).length > 2 && world.comments(issue).length > 2,
  );
  await world.stop();

  for (const method of ["conversations.history", "conversations.replies"]) {
    slack.fail({ method, times: 10, with: { error: "missing_scope" } });
  }
  github.fail({ method: "GET", path: /^\/repos\/octo\/app$/, times: 10, with: { status: 404 } });
  await world.start();
  const inSlack =
    "What happened while the bot was away can't be read back in C0GENERAL. " +
    "The Slack app lacks a permission; install it again with the current manifest.";
  expect(await gapIn(world, "slack_missed")).toBe(inSlack);
  const onGitHub = await gapIn(world, "github_missed");
  expect(onGitHub).toMatch(/^What happened while the bot was away can't be read back in octo\/app\. .+\.$/);
  await world.stop();

  await world.start();
  expect(world.log()).toMatch(/GitHub .+\n +What happened while the bot was away can't be read back in octo/);
  expect(world.log()).toContain(inSlack);
  await world.stop();

  slack.heal();
  github.heal();
  await world.start();
  await eventually("the gaps to go", async () => {
    const { body } = await readiness(world);
    return !("slack_missed" in body) && !("github_missed" in body);
  });
});

test("what is too long ago is told", async (context) => {
  const world = await startWorld(context);
  const { number: issue } = await world.github.openIssue({
    user: "bob",
    repo: "octo/app",
    title: "One",
    body: "",
  });
  await world.github.comment({ user: "alice", repo: "octo/app", issue, body: "/agent status" });
  await world.stop();

  const longAgo = new Date(Date.now() - 20 * 24 * 3_600_000).toISOString();
  {
    using database = new DatabaseSync(join(world.dataDir, databaseName), { timeout: 5_000 });
    const keep = database.prepare("INSERT OR REPLACE INTO note VALUES (?, ?)");
    for (const name of ["slack", "github"]) keep.run(`heard-until-${name}`, longAgo);
    database.exec("DELETE FROM note WHERE name = 'kept-slack'");
  }
  await world.start();
  const day = longAgo.slice(0, 10);
  expect(await gapIn(world, "github_missed")).toMatch(
    new RegExp(`^What happened on GitHub from ${day}.+ to .+ is not read back: that is too long ago\\.$`),
  );
  expect(await gapIn(world, "slack_missed")).toMatch(/^What people said in Slack from .+ too long ago\.$/);
});
