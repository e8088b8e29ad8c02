/** Signed requests that lack what their kind always has are refused with 400; 503 is for what may succeed later. */
import { expect, test } from "vitest";
import { createWorld, type World } from "#test/support/slack/world.ts";

const form = "application/x-www-form-urlencoded";

const message = {
  type: "event_callback",
  team_id: "T0SANDBOX",
  authorizations: [{ team_id: "T0SANDBOX", user_id: "UBOT", is_bot: true }],
  event: { type: "message", channel: "C0GENERAL", user: "UALICE", text: "hi", ts: "1700000000.000100" },
};
const button = {
  type: "block_actions",
  team: { id: "T0SANDBOX" },
  trigger_id: "trigger-1",
  user: { id: "UALICE", username: "alice" },
  channel: { id: "C0GENERAL" },
  container: { type: "message", channel_id: "C0GENERAL", message_ts: "1700000000.000100" },
  message: { ts: "1700000000.000100" },
  actions: [{ action_id: "cancel", value: "d-1" }],
};
const command = {
  command: "/agent",
  text: "list",
  user_id: "UALICE",
  channel_id: "C0GENERAL",
  trigger_id: "trigger-2",
};

const sendJson = ({ slack }: World, body: unknown) => slack.send(JSON.stringify(body));
const sendButton = ({ slack }: World, body: unknown) =>
  slack.send(new URLSearchParams({ payload: JSON.stringify(body) }).toString(), { contentType: form });
const sendCommand = ({ slack }: World, body: Record<string, string>) =>
  slack.send(new URLSearchParams(body).toString(), { contentType: form });

type Row = [string, (world: World) => Promise<Response>];

test.each<Row>([
  ["authorizations: [null]", (world) => sendJson(world, { ...message, authorizations: [null] })],
  ["authorizations: 5", (world) => sendJson(world, { ...message, authorizations: 5 })],
  ["event: null", (world) => sendJson(world, { ...message, event: null })],
  ["event: 5", (world) => sendJson(world, { ...message, event: 5 })],
  [
    "a message without a channel",
    (world) => sendJson(world, { ...message, event: { ...message.event, channel: null } }),
  ],
  [
    "a message without a ts",
    (world) => sendJson(world, { ...message, event: { ...message.event, ts: undefined } }),
  ],
  ["user: null", (world) => sendButton(world, { ...button, user: null })],
  ["actions: [null]", (world) => sendButton(world, { ...button, actions: [null] })],
  ["actions: []", (world) => sendButton(world, { ...button, actions: [] })],
  [
    "neither channel nor container",
    (world) => sendButton(world, { ...button, channel: null, container: null }),
  ],
  ["a channel without an id", (world) => sendButton(world, { ...button, channel: { id: null } })],
  ["a command of nobody", (world) => sendCommand(world, { ...command, user_id: "" })],
  ["a command without a trigger", (world) => sendCommand(world, { ...command, trigger_id: "" })],
])("%s is refused with 400 and a sentence, and logged", async (_, send) => {
  await using world = await createWorld();
  // The answer does not depend on whether Slack works.
  world.slack.fail({ method: "auth.test", times: 100, with: { status: 500 } });
  const answer = await send(world);
  expect([answer.status, await answer.text()]).toEqual([
    400,
    "The payload lacks fields that this kind always has.\n",
  ]);
  expect(world.events).toEqual([]);
  expect(JSON.stringify(world.lines)).toContain("A delivery from Slack could not be understood");
});

test.each<Row>([
  // https://docs.slack.dev/reference/interaction-payloads/block_actions-payload: null in an organization's app.
  ["team: null", (world) => sendButton(world, { ...button, team: null })],
  ["channel: null beside a container", (world) => sendButton(world, { ...button, channel: null })],
  ["container: null beside a channel", (world) => sendButton(world, { ...button, container: null })],
  ["no trigger", (world) => sendButton(world, { ...button, trigger_id: null })],
  ["authorizations: null", (world) => sendJson(world, { ...message, authorizations: null })],
  [
    "user: null of a message",
    (world) => sendJson(world, { ...message, event: { ...message.event, user: null } }),
  ],
])("%s is understood", async (_, send) => {
  await using world = await createWorld();
  expect((await send(world)).status).toBe(200);
  expect(world.events).toHaveLength(1);
});
