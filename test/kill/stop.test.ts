import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { placeOf } from "#test/kill/deeds/github.ts";
import { eventually } from "#test/support/eventually.ts";
import { type StoryTown, storyTown } from "./story-town.ts";

/** Stops the bot and resolves with its exit status; a bot that takes far too long is killed. */
async function stopped(town: StoryTown): Promise<number | string | null> {
  const late = setTimeout(() => void town.endBot("SIGKILL"), 15_000);
  const how = await town.endBot("SIGTERM");
  clearTimeout(late);
  return how;
}

test.concurrent("a stopping bot acks nothing more and exits with 0; after the next start every request is done once", async (context) => {
  const town = await storyTown(context, { retryDelaysMs: [] });
  await town.start();
  await town.mention("warm up, do:quick");
  const asked: Promise<{ readonly word: string; readonly place: string; readonly isAcked: boolean }>[] = [];
  let stopping: Promise<number | string | null> | null = null;
  for (let number = 0; number < 60; number += 1) {
    const word = `wish-${number}-`;
    asked.push(
      town
        .mention(`${word} do:quick`)
        .then(({ place, statuses }) => ({ word, place, isAcked: statuses.includes(200) })),
    );
    if (number === 20) stopping = stopped(town);
    await sleep(5);
  }
  const wishes = await Promise.all(asked);
  expect(await stopping).toBe(0);
  const acked = wishes.filter(({ isAcked }) => isAcked);
  expect(acked.length).toBeGreaterThan(0);
  expect(acked.length).toBeLessThan(wishes.length);

  await town.start();
  // What was not acked is read back.
  for (const { place } of wishes) await town.ends(place);
  for (const { word } of wishes) expect((await town.runsAbout(word)).length, word).toBe(1);
  expect(await stopped(town)).toBe(0);
});

test.concurrent("a Slack that never answers neither keeps the bot from stopping nor makes it post twice", async (context) => {
  const town = await storyTown(context);
  await town.start();
  const before = town.slack.calls.length;
  town.slack.fail({ method: "chat.postMessage", with: { hang: "after" } });
  const { place } = await town.mention("hanging, do:quick");
  await eventually("the post", () =>
    town.slack.calls.slice(before).some(({ method }) => method === "chat.postMessage"),
  );
  expect(await stopped(town)).toBe(0);
  await town.start();
  const ends = await town.ends(place);
  expect(ends.length).toBe(1);
  expect(town.posts(place).filter(({ kind }) => kind === "card").length).toBe(1);
  expect((await town.runsAbout("hanging")).length).toBe(1);
});

test.concurrent("a GitHub that never answers neither keeps the bot from stopping nor makes it comment twice", async (context) => {
  const town = await storyTown(context);
  await town.start();
  const issue = await town.issue("hanging");
  town.github.fail({ method: "POST", path: /\/comments$/, with: { hang: "after" } });
  await town.comment(issue, "/agent run hanging, do:quick");
  await eventually("the card", () => town.posts(placeOf(issue)).length > 0);
  expect(await stopped(town)).toBe(0);
  await town.start();
  expect((await town.ends(placeOf(issue))).length).toBe(1);
  expect(town.posts(placeOf(issue)).filter(({ kind }) => kind === "card").length).toBe(1);
  expect((await town.runsAbout("Reference: agent-runs-bot github")).length).toBe(1);
});

test.concurrent("an API that never answers neither keeps the bot from stopping nor makes it create two runs", async (context) => {
  const town = await storyTown(context);
  await town.start();
  town.holdService();
  const { place, statuses } = await town.mention("hanging, do:quick");
  expect(statuses).toEqual([200, 200]);
  await eventually("the card", async () =>
    town.slack.calls.some(({ method }) => method === "chat.postMessage"),
  );
  expect(await stopped(town)).toBe(0);
  town.freeService();
  await town.start();
  expect((await town.ends(place)).length).toBe(1);
  expect((await town.runsAbout("hanging")).length).toBe(1);
});

test.concurrent("the waits for a half-sent request and for a hanging Slack overlap when the bot stops", async (context) => {
  const town = await storyTown(context);
  await town.start();
  town.slack.fail({ method: "chat.postMessage", with: { hang: "after" } });
  const before = town.slack.calls.length;
  await town.mention("hanging, do:quick");
  await eventually("the post", () =>
    town.slack.calls.slice(before).some(({ method }) => method === "chat.postMessage"),
  );
  const sending = fetch(`${town.botUrl()}/github/webhooks`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new ReadableStream({
      pull: (stream) => {
        stream.enqueue(new TextEncoder().encode("{"));
        return new Promise(() => {});
      },
    }),
    duplex: "half",
  } as RequestInit).catch(() => null);
  await sleep(200);
  expect(await stopped(town)).toBe(0);
  await sending;
});
