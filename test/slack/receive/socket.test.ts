import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { createWorld } from "#test/support/slack/world.ts";

const connected = async (options: Parameters<typeof createWorld>[0] = {}) => {
  const world = await createWorld({ mode: "socket", ...options });
  await world.receiver.start();
  await eventually("the connection", () => world.slack.connections === 1);
  return world;
};

test("commands, messages and buttons arrive over the socket and are acked", async () => {
  await using world = await connected();
  expect(world.receiver.listener).toBeUndefined();
  const slash = await world.slack.slash({ user: "alice", channel: "general", text: "list" });
  expect(slash.status).toBe(200);
  const said = await world.slack.say({ user: "alice", channel: "general", text: "@agent fix it" });
  expect(said.statuses).toEqual([200, 200]);
  expect(world.events).toMatchObject([
    { kind: "command", id: `slack:interaction:${slash.triggerId}`, text: "list", place: null },
    { kind: "reply", id: `slack:message:T0SANDBOX:C0GENERAL:${said.ts}`, text: "fix it", mention: true },
    { kind: "reply", id: `slack:message:T0SANDBOX:C0GENERAL:${said.ts}`, text: "fix it", mention: true },
  ]);
});

test("an event is acked only after it is saved", async () => {
  await using world = await connected();
  let release = (): void => {};
  world.accept = () =>
    new Promise((resolve) => {
      release = () => resolve("saved");
    });
  let acked = false;
  const said = world.slack.say({ user: "alice", channel: "general", text: "hello" }).finally(() => {
    acked = true;
  });
  await eventually("the event", () => world.events.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(acked).toBe(false);
  release();
  expect((await said).statuses).toEqual([200]);
});

test("an event that can't be saved is not acked, so Slack delivers it again", async () => {
  await using world = await connected({ answerWithinMs: 300 });
  world.accept = async () => {
    if (world.events.length === 1) throw new Error("the disk is full");
    return world.events.length === 2 ? "again" : "saved";
  };
  const { statuses } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  expect(statuses).toEqual([0, 0, 200]);
  expect(new Set(world.events.map(({ id }) => id)).size).toBe(1);
});

test("when Slack asks for a new connection, the bot makes one", async () => {
  await using world = await connected();
  world.slack.refreshConnections();
  await eventually(
    "the second connection",
    () => world.slack.calls.filter(({ method }) => method === "apps.connections.open").length === 2,
  );
  await eventually("the connection", () => world.slack.connections === 1);
  expect((await world.slack.say({ user: "bob", channel: "general", text: "hi" })).statuses.at(-1)).toBe(200);
});

test("the bot keeps connecting while Slack is down, limits or refuses", async () => {
  await using world = await createWorld({ mode: "socket" });
  world.slack.fail({ method: "auth.test", with: { status: 500 } });
  world.slack.fail({ method: "apps.connections.open", with: { status: 500 } });
  world.slack.fail({ method: "apps.connections.open", with: { retryAfter: 1 } });
  world.slack.fail({ method: "apps.connections.open", with: { error: "invalid_auth" } });
  await world.receiver.start();
  await eventually("the connection", () => world.slack.connections === 1);
  expect((await world.slack.say({ user: "bob", channel: "general", text: "hi" })).statuses.at(-1)).toBe(200);
});

test("stopping waits for events that are being saved, and acks them", async () => {
  const world = await connected();
  let release = (): void => {};
  world.accept = () =>
    new Promise((resolve) => {
      release = () => resolve("saved");
    });
  const said = world.slack.say({ user: "alice", channel: "general", text: "hello" });
  await eventually("the event", () => world.events.length === 1);
  const stopped = world.receiver.stop();
  release();
  await stopped;
  expect((await said).statuses).toEqual([200]);
  await eventually("the disconnection", () => world.slack.connections === 0);
  await world[Symbol.asyncDispose]();
});

test("an event that is never saved does not keep the receiver from stopping", async () => {
  const world = await connected({ retryDelaysMs: [], answerWithinMs: 300 });
  world.accept = () => new Promise(() => {});
  const said = world.slack.say({ user: "alice", channel: "general", text: "hello" });
  await eventually("the event", () => world.events.length === 1);
  await world.receiver.stop();
  await world[Symbol.asyncDispose]();
  expect((await said).statuses).toEqual([0]);
});
