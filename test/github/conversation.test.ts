/** Whole conversations on GitHub: moved, delivered twice, and counted in writes. */
import { describe, expect, it } from "vitest";
import { defaultSnapshot } from "#sandbox/github/snapshot.ts";
import { createMemoryStore } from "#test/support/engine/memory-store.ts";
import { eventually } from "#test/support/eventually.ts";
import { repo } from "#test/support/github/start.ts";
import { startWhole } from "#test/support/github/whole.ts";

function twoRepositories() {
  const initial = defaultSnapshot();
  const [app] = initial.repos;
  if (app === undefined) throw new Error("there is no repository");
  initial.repos.push({ ...structuredClone(app), id: 200, name: "site", lastNumber: 6 });
  return initial;
}

function succeed({ api }: Awaited<ReturnType<typeof startWhole>>, run: string): void {
  api.conversations.get(run)?.push({ role: "assistant", text: "Done." });
  api.turn(run, "SUCCEEDED");
}

describe("a conversation goes on", () => {
  it.concurrent("in a renamed repository", async () => {
    await using bot = await startWhole({});
    await bot.label();
    const run = await bot.run();
    bot.api.turn(run, "INPROGRESS");
    await bot.ourWith("In progress");
    bot.standIn.renameRepo(repo, "octo/web");
    await bot.comment("And the docs", 1, "octo/web");
    await eventually("the follow-up", () => bot.api.conversations.get(run)?.length === 1);
    succeed(bot, run);
    await bot.ourWith("succeeded");
    await bot.quiet();
    expect(bot.api.count("create")).toBe(1);
    expect(bot.ours().filter(({ body }) => body.includes("Succeeded"))).toHaveLength(1);
    expect(bot.labels()).toEqual(["agent", "agent:done"]);
  });

  it.concurrent.each([true, false])(
    "of a transferred issue (its webhook delivered: %s)",
    async (isDelivered) => {
      await using bot = await startWhole({ initial: twoRepositories() });
      await bot.label();
      const run = await bot.run();
      bot.api.turn(run, "INPROGRESS");
      await bot.ourWith("In progress");
      await bot.quiet();
      bot.standIn.turnOff(!isDelivered);
      const { number } = await bot.standIn.transferIssue({ user: "bob", repo, issue: 1, to: "octo/site" });
      bot.standIn.turnOff(false);
      if (isDelivered) {
        await bot.comment("And the docs", number, "octo/site");
        await eventually("the follow-up", () => bot.api.conversations.get(run)?.length === 1);
      }
      succeed(bot, run);
      await bot.ourWith("succeeded");
      await bot.quiet();
      expect(bot.ours().map((one) => [one.repo, one.issue])).toEqual([
        ["octo/site", number],
        ["octo/site", number],
      ]);
      expect(bot.ours().filter(({ body }) => body.includes("Succeeded"))).toHaveLength(1);
      expect(bot.labels(number)).toEqual(["agent", "agent:done"]);
    },
  );

  it.concurrent("where the bot found a transferred issue whose webhook never came, also after a restart", async () => {
    const store = createMemoryStore();
    const bot = await startWhole({ initial: twoRepositories(), store });
    await bot.label();
    const run = await bot.run();
    await bot.ourWith("Queued");
    await bot.quiet();
    bot.standIn.turnOff(true);
    const { number } = await bot.standIn.transferIssue({ user: "bob", repo, issue: 1, to: "octo/site" });
    bot.standIn.turnOff(false);
    bot.api.turn(run, "BLOCKED");
    await bot.ourWith("needs your answer");
    await bot.quiet();
    await bot[Symbol.asyncDispose]();

    await using later = await startWhole({ store, initial: bot.standIn.snapshot() });
    later.api.add({ ...[...bot.api.runs.values()][0], run_id: run });
    await later.comment("And the docs", number, "octo/site");
    await eventually("the follow-up", () => later.api.conversations.get(run)?.length === 1);
    expect(store.size()).toBe(1);
    expect(later.api.count("create")).toBe(0);
  });

  it.concurrent("that an earlier version saved under the repository's name", async () => {
    const store = createMemoryStore();
    await using bot = await startWhole({ store });
    await bot.label();
    const run = await bot.run();
    await bot.settled();
    const thread = store.get("github:100#1");
    const old = JSON.parse(JSON.stringify(thread).replaceAll("github:100#1", "github:octo/app#1"));
    const { formerPlaces: _, ...saved } = old;
    const stored = createMemoryStore();
    stored.put(saved);
    await using later = await startWhole({ store: stored, initial: bot.standIn.snapshot() });
    later.api.add({ ...[...bot.api.runs.values()][0], run_id: run });
    await later.comment("And the docs");
    await eventually("the follow-up", () => later.api.conversations.get(run)?.length === 1);
    succeed(later, run);
    await later.ourWith("succeeded");
    await later.quiet();
    expect(stored.size()).toBe(1);
    expect(stored.get("github:100#1").places).toEqual(["github:octo/app#1"]);
    expect(later.ours().filter(({ body }) => body.includes("Succeeded"))).toHaveLength(1);
  });
});

it.concurrent("a run costs at most six writes from its label to its reply, once the repository has the state labels", async () => {
  await using bot = await startWhole({});
  const counts: number[] = [];
  for (const issue of [1, 2]) {
    if (issue === 2) await bot.standIn.openIssue({ user: "bob", repo, title: "Another" });
    const before = bot.writes().length;
    await bot.label(issue);
    const run = await bot.run(issue - 1);
    await bot.settled();
    bot.api.turn(run, "INPROGRESS");
    await eventually("the label", () => bot.labels(issue).includes("agent:running"));
    await bot.quiet();
    succeed(bot, run);
    await eventually("the end", () => bot.labels(issue).includes("agent:done"));
    await bot.quiet();
    expect(bot.labels(issue)).toEqual(["agent", "agent:done"]);
    counts.push(bot.writes().length - before);
  }
  // The first run in a repository makes two labels.
  expect(counts[0]).toBeLessThanOrEqual(8);
  expect(counts[1]).toBeLessThanOrEqual(6);
});

it.concurrent("a label and a comment that two webhooks deliver at once take effect once", async () => {
  await using bot = await startWhole({ hooks: 2 });
  await bot.label();
  const run = await bot.run();
  bot.api.turn(run, "INPROGRESS");
  await bot.ourWith("In progress");
  await bot.comment("And the docs");
  await eventually("the follow-up", () => bot.api.conversations.get(run)?.length === 1);
  await bot.quiet();
  expect(
    bot.standIn.deliveries.filter(({ event, action }) => event === "issues" && action === "labeled").length,
  ).toBe(4);
  expect(bot.api.count("create")).toBe(1);
  expect(bot.api.conversations.get(run)).toHaveLength(1);
  expect(bot.ours()).toHaveLength(1);
});
