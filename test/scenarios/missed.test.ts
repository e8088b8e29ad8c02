import { setTimeout as delay } from "node:timers/promises";
import { expect, type TestContext, test } from "vitest";
import { startWorld, type WorldOptions } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

const repo = "octo/app";
/** Waits for the next second: GitHub's times are whole seconds. */
const nextSecond = () => delay(1_050);

async function begin(context: TestContext, options: WorldOptions) {
  const world = await startWorld(context, { ...options, slackRetryDelaysMs: [] });
  const open = async (title: string) =>
    (await world.github.openIssue({ user: "bob", repo, title, body: "" })).number;
  const label = (issue: number, user = "alice") => world.github.label({ user, repo, issue, label: "agent" });
  const comment = (issue: number, body: string, user = "alice") =>
    world.github.comment({ user, repo, issue, body });
  const ours = (issue: number) => world.comments(issue).filter(({ user }) => user === world.gitHubLogin);
  const commentWith = (issue: number, text: string) =>
    eventually(`a comment with “${text}”`, () => ours(issue).find(({ body }) => body.includes(text)));
  const runsOf = async (title: string) => (await world.runs()).filter((run) => run.title === title);
  const followUps = (text: string) =>
    world.apiCalls.filter(({ path, body }) => path.endsWith("/followups") && body.includes(text)).length;
  /** Starts a run in Slack and returns its thread. */
  async function runInSlack(): Promise<string> {
    await world.slack.slash({ user: "alice", channel: "general", text: "run take your time" });
    const { ts } = await eventually("the card", () => world.cards("general")[0]);
    await eventually("the run", async () => (await world.runs()).some(({ state }) => state === "INPROGRESS"));
    return ts;
  }
  return { world, open, label, comment, ours, commentWith, runsOf, followUps, runInSlack };
}

const ways = [
  ["a GitHub App", "app", "stop"],
  ["a token that sees webhooks", "token that sees webhooks", "kill"],
  ["a token alone", "token", "kill"],
] as const;

test.concurrent.for(ways)(
  "with %s, requests made while the bot was away take effect once and in order",
  async ([, gitHubAuth, end], context) => {
    const { world, open, label, comment, ours, commentWith, runsOf, followUps, runInSlack } = await begin(
      context,
      { gitHubAuth },
    );
    const known = await open("Known before");
    await label(known);
    await commentWith(known, "I read this");
    const ts = await runInSlack();
    await nextSecond();

    await world[end]();
    const labelled = await open("Labelled meanwhile");
    await label(labelled);
    await nextSecond();
    await comment(labelled, "Mind the tests.");
    const asked = await open("Asked meanwhile");
    const { id } = await comment(asked, "/agent run --title Asked explain it");
    const forbidden = await open("Forbidden meanwhile");
    await label(forbidden, "mallory");
    await comment(known, "Call it lexer.", "bob");
    await comment(known, "!aside not for the agent", "bob");
    const first = await world.slack.say({ user: "alice", channel: "general", thread: ts, text: "one more" });
    await world.slack.say({ user: "bob", channel: "general", thread: ts, text: "and another" });
    expect(first.statuses).toEqual([0]);
    const lost = world.github.deliveries.filter(({ status }) => status === null);
    expect(lost.length).toBeGreaterThan(6);

    await world.start();
    await commentWith(labelled, "Mind the tests.");
    await commentWith(asked, "I read this");
    await commentWith(known, "Call it lexer.");
    await commentWith(forbidden, "write access");
    await eventually("the reply in Slack", () => followUps("and another"));
    // As a person might who does not know that the bot requests redeliveries itself.
    for (const { guid } of lost) await world.github.redeliver(guid);
    await world.github.idle();
    await comment(asked, "The last word.");
    await commentWith(asked, "The last word.");

    expect(await runsOf("Labelled meanwhile")).toHaveLength(1);
    expect(await runsOf("Asked")).toHaveLength(1);
    expect(await runsOf("Forbidden meanwhile")).toHaveLength(0);
    expect(world.creates()).toHaveLength(4);
    const said = ["Mind the tests.", "Call it lexer.", "one more", "and another", "The last word."];
    expect(said.map(followUps)).toEqual(said.map(() => 1));
    expect(followUps("not for the agent")).toBe(0);
    const order = world.apiCalls.findIndex(({ body }) => body.includes("one more"));
    expect(order).toBeLessThan(world.apiCalls.findIndex(({ body }) => body.includes("and another")));
    expect(ours(labelled).filter(({ body }) => body.includes("Asked by"))).toHaveLength(1);
    expect(ours(forbidden)).toHaveLength(1);
    const command = world.comments(asked).find((known) => known.id === id);
    expect(command?.reactions.length ?? 0).toBeLessThanOrEqual(1);
  },
);

test.concurrent("a request delivered twice while the bot was away, and once more afterwards, is one run", async (context) => {
  const { world, open, label, comment, ours, commentWith, runsOf } = await begin(context, {
    gitHubAuth: "token",
  });
  const known = await open("Known before");
  await label(known);
  await commentWith(known, "I read this");
  await world.kill();
  const issue = await open("Twice");
  const { delivery } = await label(issue);
  await world.github.redeliver(delivery?.guid ?? "");
  await world.start();
  // The delivery may come before or after the label is read back.
  await world.github.redeliver(delivery?.guid ?? "");
  await commentWith(issue, "I read this");
  await world.kill();
  await world.start();
  await world.github.redeliver(delivery?.guid ?? "");
  await comment(issue, "and now?");
  await commentWith(issue, "and now?");
  expect(await runsOf("Twice")).toHaveLength(1);
  expect(ours(issue).some(({ body }) => body.includes("already active"))).toBe(false);
});

test.concurrent("a mention that arrived while the bot's own login was unknown is delivered again without help", async (context) => {
  const { world, open, label, comment, commentWith, runsOf } = await begin(context, { gitHubAuth: "token" });
  const known = await open("Known before");
  await label(known);
  await commentWith(known, "I read this");
  await world.kill();
  const issue = await open("Mentioned");
  await comment(issue, "@agent-runs-bot run --title First look at it");
  const asked = (): number => world.github.calls.filter(({ path }) => path === "/user").length;
  const before = asked();
  world.github.fail({ path: "/user", times: 2, with: { status: 502 } });
  await world.start();
  await eventually("the first look", () => asked() > before);
  const { delivery } = await comment(issue, "@agent-runs-bot run --title Second look closer");
  expect(delivery.status).toBe(503);
  await eventually("both runs", async () => (await runsOf("Second")).length > 0);
  expect(await runsOf("First")).toHaveLength(1);
  expect(await runsOf("Second")).toHaveLength(1);
});
