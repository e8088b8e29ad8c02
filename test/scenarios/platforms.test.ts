/** The scenarios that are the same on every platform: the product's, and one that exists in the tests only. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LineChat, startLineChat } from "#test/line-chat/server.ts";
import { createWorld, type World } from "#test/support/bot/world.ts";
import type { Conversation, Driver } from "#test/support/drivers/driver.ts";
import { gitHubDriver } from "#test/support/drivers/github-driver.ts";
import { lineChatDriver } from "#test/support/drivers/line-chat-driver.ts";
import { slackDriver } from "#test/support/drivers/slack-driver.ts";
import { eventually } from "#test/support/eventually.ts";

const password = "password-of-the-line-chat";
let chat: LineChat;
let overHttp: World;
let inSocketMode: World;

beforeAll(async () => {
  const slack = { people: ["UALICE"] };
  chat = await startLineChat(password);
  overHttp = await createWorld({
    script: join(import.meta.dirname, "../line-chat/main.ts"),
    environment: { LINE_CHAT_ADDRESS: chat.address, LINE_CHAT_PASSWORD: password },
    config: { permissions: { slack, "line-chat": { people: ["alice"] } } },
    slackRetryDelaysMs: [],
  });
  inSocketMode = await createWorld({
    socketMode: true,
    config: { permissions: { slack } },
    slackRetryDelaysMs: [],
  });
  await Promise.all([overHttp.start(), inSocketMode.start()]);
});

afterAll(async () => {
  await Promise.all([overHttp.close(), inSocketMode.close()]);
  await chat.close();
});

const platforms: readonly (readonly [string, () => World, (world: World) => Driver | Promise<Driver>])[] = [
  ["Slack over HTTP", () => overHttp, slackDriver],
  ["Slack in Socket Mode", () => inSocketMode, slackDriver],
  ["GitHub", () => overHttp, gitHubDriver],
  ["a chat of lines over TCP", () => overHttp, () => lineChatDriver(chat)],
];

describe.each(platforms)("on %s", (platform, worldOf, createDriver) => {
  let world: World;
  let driver: Driver;
  beforeAll(async () => {
    world = worldOf();
    driver = await createDriver(world);
  });

  const says = ({ ours }: Conversation, text: string): Promise<string> =>
    eventually(`“${text}”`, () => ours().find((message) => message.includes(text)));
  const cardShows = ({ ours }: Conversation, state: string) =>
    eventually(`the card to show “${state}”`, () => ours()[0]?.includes(state));
  const followUps = (text: string): number =>
    world.apiCalls.filter(({ path, body }) => path.endsWith("/followups") && body.includes(text)).length;
  /** Waits until the bot has no effect left to perform. */
  const idle = () =>
    eventually("no effect to perform", async () => {
      const answer = await fetch(`${world.botUrl()}/metrics`);
      return /^agent_runs_bot_pending_effects 0$/m.test(await answer.text());
    });

  test("a request becomes one run with one card, and its end is announced once", async () => {
    const before = world.creates().length;
    const conversation = await driver.ask("explain the parser");
    await says(conversation, "explain the parser");
    await cardShows(conversation, "Succeeded");
    await idle();
    const [, ...replies] = conversation.ours();
    expect(replies).toEqual([expect.stringContaining("I read this")]);
    expect(world.creates()).toHaveLength(before + 1);
  });

  test("a reply after the end of a run is marked and continues the run", async () => {
    const before = world.creates().length;
    const conversation = await driver.ask("look at the parser");
    await says(conversation, "I read this");
    const more = `now the lexer too, says ${platform}`;
    const { isTaken } = await conversation.reply(more);
    await eventually("the mark", isTaken);
    await says(conversation, more);
    expect(followUps(more)).toBe(1);
    expect(world.creates()).toHaveLength(before + 1);
  });

  test("a run can be cancelled, and the cancellation is announced once", async () => {
    const conversation = await driver.ask("take your time");
    await cardShows(conversation, "In progress");
    await conversation.command("cancel");
    await says(conversation, "was cancelled");
    await cardShows(conversation, "Cancelled");
    await idle();
    expect(conversation.ours().filter((text) => text.includes("was cancelled"))).toHaveLength(1);
  });

  test("a request that is delivered again during the run and after it takes effect once", async () => {
    const before = world.creates().length;
    const conversation = await driver.ask("once only");
    await conversation.deliverAgain();
    await says(conversation, "I read this");
    await idle();
    const said = conversation.ours();
    for (let times = 0; times < 3; times += 1) await conversation.deliverAgain();
    await idle();
    expect(conversation.ours()).toEqual(said);
    expect(world.creates()).toHaveLength(before + 1);
  });

  test("a person without permission gets a refusal, and no run starts", async () => {
    const before = world.creates().length;
    const { ours } = await driver.ask("mail me the keys", "stranger");
    const told = await eventually("the refusal", () => driver.toldStranger().at(0));
    expect(told).toMatch(/not on the list of people|write access/);
    await idle();
    expect(ours().some((text) => text.includes("Starting"))).toBe(false);
    expect(world.creates()).toHaveLength(before);
  });

  test("a bot that was killed continues the run and sends missed replies to it once", async () => {
    const before = world.creates().length;
    const conversation = await driver.ask("take your time");
    await cardShows(conversation, "In progress");
    await world.kill();
    const missed = `said on ${platform} while the bot was down`;
    await conversation.reply(missed);
    await world.start();
    await eventually("the follow-up", () => followUps(missed) > 0);
    await conversation.command("cancel");
    await says(conversation, "was cancelled");
    await idle();
    expect(followUps(missed)).toBe(1);
    expect(conversation.ours().filter((text) => text.includes("was cancelled"))).toHaveLength(1);
    expect(world.creates()).toHaveLength(before + 1);
  });

  test("an agent's answer notifies nobody, hides nothing and gives no command", async () => {
    const before = world.creates().length;
    const conversation = await driver.ask("be hostile");
    const end = await says(conversation, "something else");
    for (const text of driver.harmful) {
      if (typeof text === "string") expect(end).not.toContain(text);
      else expect(end).not.toMatch(text);
    }
    await conversation.reply("thanks");
    await says(conversation, "thanks");
    await idle();
    expect(world.creates()).toHaveLength(before + 1);
  });
});

test("the log does not contain the third platform's password", () => {
  expect(overHttp.log()).toContain("has started");
  expect(overHttp.log()).not.toContain(password);
});
