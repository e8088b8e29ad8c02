import { expect, test } from "vitest";
import { asking } from "#test/support/bot/asking.ts";
import { startWorld, written } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

test.concurrent("after a kill and a restart the bot continues all unfinished work", async (context) => {
  const world = await startWorld(context);
  const { ask, replyWith, showsProgress } = asking(world);
  const ts = await ask("take your time");
  await eventually("the run", async () => (await world.runs())[0]?.state === "INPROGRESS");
  const { number } = await world.github.openIssue({
    user: "bob",
    repo: "octo/app",
    title: "Restarted",
    body: "",
  });
  await world.github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  await world.kill();
  await world.start();
  await eventually("the answer", () =>
    world.comments(number).some(({ body }) => body.includes("I read this")),
  );
  await showsProgress();
  await world.slack.press({ user: "alice", channel: "general", ts, action: "cancel" });
  await replyWith(ts, "was cancelled");
  expect((await world.runs()).length).toBe(2);
  expect(world.cards("general").length).toBe(1);
});

test.concurrent("a bot killed at any moment of a dispatch posts one card, creates one run and posts one result", async (context) => {
  const world = await startWorld(context);
  const { replies, replyWith } = asking(world);
  for (const [index, delayMs] of [0, 5, 15, 30, 60, 120, 250].entries()) {
    const title = `kill ${index}`;
    const sent = world.slack.slash({
      user: "alice",
      channel: "general",
      text: `run --title "${title}" open a pull request ${index}`,
    });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await world.kill();
    const { status } = await sent;
    await world.start();
    if (status !== 200) continue;
    const card = await eventually(`the card of ${title}`, () =>
      world.cards("general").find((message) => written(message).includes(`open a pull request ${index}`)),
    );
    await replyWith(card.ts, "succeeded");
    expect(
      world.cards("general").filter((message) => written(message).includes(`open a pull request ${index}`))
        .length,
    ).toBe(1);
    expect((await world.runs()).filter((run) => run.title === title).length).toBe(1);
    expect(replies(card.ts, "succeeded").length).toBe(1);
  }
});

test.concurrent("readiness names the system that is down, and a stopped bot exits with 0", async (context) => {
  const world = await startWorld(context);
  const ready = async () => {
    const response = await fetch(`${world.botUrl()}/readyz`);
    return { status: response.status, body: await response.text() };
  };
  expect((await ready()).status).toBe(200);
  world.slack.fail({ method: "auth.test", times: 50, with: { status: 500 } });
  const down = await eventually("slack to be named", async () => {
    const seen = await ready();
    return seen.status === 503 ? seen : null;
  });
  expect(JSON.parse(down.body)).toMatchObject({ store: "ok", api: "ok", github: "ok" });
  expect(down.body).toMatch(/"slack":"(?!ok)/);
  expect(await world.stop()).toBe(0);
});

test.concurrent("runs beyond the service's limit wait and all end", async (context) => {
  const world = await startWorld(context, { maxRuns: 2 });
  const { replies } = asking(world);
  const asked = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      world.slack.slash({ user: "alice", channel: "general", text: `run task number ${index}` }),
    ),
  );
  expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 200));
  await eventually("twelve ends", () => {
    const cards = world.cards("general");
    return cards.length === 12 && cards.every(({ ts }) => replies(ts, "succeeded").length === 1);
  });
});
