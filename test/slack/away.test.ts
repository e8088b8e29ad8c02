/** The whole bot at a Slack that it was away from, that lags, and whose clock is off. */
import { expect, type TestContext, test } from "vitest";
import { startWorld, written } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

const minute = 60_000;

async function begin(context: TestContext, slackSettlingSeconds = 1) {
  const config = { settling: { slack: slackSettlingSeconds } };
  const world = await startWorld(context, { config, slackRetryDelaysMs: [] });
  const inThread = (ts: string, text: string) =>
    world
      .thread("general", ts)
      .filter((message) => message.user === "UBOT" && written(message).includes(text));
  const followUps = (text: string) =>
    world.apiCalls.filter(({ path, body }) => path.endsWith("/followups") && body.includes(text)).length;
  const runsOf = async (text: string) =>
    (await world.runs()).filter(({ prompt }) => prompt.includes(text)).length;
  return { world, inThread, followUps, runsOf };
}

test.concurrent("a reply to a finished run, a fresh mention and a mention in a discussion, made while the bot was away, take effect once", async (context) => {
  const { world, inThread, followUps, runsOf } = await begin(context);
  const { slack } = world;
  const say = (text: string, thread?: string) =>
    slack.say({ user: "alice", channel: "general", text, ...(thread === undefined ? {} : { thread }) });
  const { ts } = await say("<@UBOT> say hello");
  await eventually("the end", async () => inThread(ts, "I read this").length > 0);
  const discussion = (await say("the build is slow")).ts;
  await eventually("the end to be saved", async () =>
    (await world.runs()).every(({ state }) => state === "SUCCEEDED"),
  );
  await world.stop();

  await say("and the docs too", ts);
  const fresh = (await say("<@UBOT> count the files")).ts;
  await say("mind the hidden ones", fresh);
  await say("<@UBOT> make it faster", discussion);
  await world.start();
  await eventually("the follow-up", () => followUps("and the docs too") > 0);
  await eventually("the fresh run", async () => (await runsOf("count the files")) > 0);
  await eventually("the reply to it", () => followUps("mind the hidden ones") > 0);
  await eventually("the run in the discussion", async () => (await runsOf("make it faster")) > 0);

  await world.kill();
  await world.start();
  await say("<@UBOT> the last one");
  await eventually("the last run", async () => (await runsOf("the last one")) > 0);
  for (const text of ["and the docs too", "mind the hidden ones"]) expect(followUps(text)).toBe(1);
  for (const text of ["count the files", "make it faster"]) expect(await runsOf(text)).toBe(1);
  expect(world.creates()).toHaveLength(4);
});

test.concurrent.for([3, 6, -6])(
  "with Slack's clock off by %i minutes, late lists and cut posts, every card and reply is posted once",
  async (skew, context) => {
    const { world } = await begin(context, 4);
    const { slack } = world;
    Object.assign(slack.conditions, { skewMs: skew * minute, lagMs: 1_500 });
    const cut = (times: number) =>
      slack.fail({ method: "chat.postMessage", times, with: { reset: "after" } });
    const asked: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      cut(2);
      asked.push((await slack.say({ user: "alice", channel: "general", text: `<@UBOT> say ${n}` })).ts);
    }
    cut(2);
    await slack.slash({ user: "alice", channel: "general", text: "run say hello" });
    await world.kill();
    await world.start();
    const effects = () =>
      world.channel("general").messages.flatMap(({ metadata }) => {
        const { event_payload } = (metadata as { event_payload?: { effect?: string } }) ?? {};
        return event_payload?.effect ?? [];
      });
    // A card and a reply each.
    await eventually("all posts", () => new Set(effects()).size >= 10);
    expect(effects()).toHaveLength(10);
    for (const ts of asked) expect(world.thread("general", ts)).toHaveLength(3);
  },
);
