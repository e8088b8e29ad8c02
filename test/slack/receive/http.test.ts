import { request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { emptyWorkspace } from "#sandbox/slack/workspace.ts";
import { eventually } from "#test/support/eventually.ts";
import { card, createWorld, general, messagesIn, performed, view } from "#test/support/slack/world.ts";

const form = "application/x-www-form-urlencoded";

test("a slash command becomes a command that has no place yet", async () => {
  await using world = await createWorld();
  const { status, body, triggerId } = await world.slack.slash({
    user: "alice",
    channel: "general",
    text: "run fix a < b && c",
  });
  expect([status, body]).toEqual([200, ""]);
  expect(world.events).toMatchObject([
    {
      kind: "command",
      id: `slack:interaction:${triggerId}`,
      by: { platform: "slack", id: "UALICE", name: "alice", bot: false },
      scope: "slack:T0SANDBOX:C0GENERAL",
      place: null,
      text: "run fix a < b && c",
      answerVia: expect.stringContaining(`${world.slack.baseUrl}/respond/`),
    },
  ]);
});

test("a mention that is delivered as app_mention and as message has one id", async () => {
  await using world = await createWorld();
  const { ts, statuses } = await world.slack.say({
    user: "alice",
    channel: "general",
    text: "@agent fix it & tell @bob",
  });
  expect(statuses).toEqual([200, 200]);
  expect(world.events).toHaveLength(2);
  expect(world.events[0]).toEqual(world.events[1]);
  expect(world.events[0]).toMatchObject({
    kind: "reply",
    id: `slack:message:T0SANDBOX:C0GENERAL:${ts}`,
    place: `slack:T0SANDBOX:C0GENERAL:${ts}`,
    message: ts,
    text: "fix it & tell @UBOB",
    mention: true,
    first: true,
    underOurs: false,
  });
});

test("a reply in a thread has the thread's place and is not a mention", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "look" });
  const answer = await world.slack.say({ user: "bob", channel: "general", text: "well", thread: ts });
  expect(answer.statuses).toEqual([200]);
  expect(world.events[1]).toMatchObject({
    id: `slack:message:T0SANDBOX:C0GENERAL:${answer.ts}`,
    place: `slack:T0SANDBOX:C0GENERAL:${ts}`,
    mention: false,
    first: false,
    underOurs: false,
    by: { id: "UBOB" },
  });
});

test("a direct message counts as a mention", async () => {
  const initial = {
    ...emptyWorkspace,
    channels: [
      { id: "D0ALICE", name: "alice", kind: "im" as const, members: ["UALICE", "UBOT"], messages: [] },
    ],
  };
  await using world = await createWorld({ initial });
  const { statuses } = await world.slack.say({ user: "alice", channel: "D0ALICE", text: "list" });
  expect(statuses).toEqual([200]);
  expect(world.events).toMatchObject([{ mention: true, text: "list" }]);
});

test("a button becomes an event of its card's thread", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  const message = await world.platform.perform(
    {
      kind: "card",
      id: "e1",
      to: "slack:T0SANDBOX:C0GENERAL",
      at: `slack:T0SANDBOX:C0GENERAL:${ts}`,
      since: new Date().toISOString(),
      tries: 0,
      dispatch: "d-7",
      revision: 1,
      view: {
        tone: "working",
        headline: ["Working"],
        details: [],
        actions: [{ action: "cancel", label: "Cancel", dispatch: "d-7" }],
      },
    },
    { uncertain: false, settlesInMs: 0 },
  );
  if (!message.ok || message.kind !== "card") throw new Error("no card");
  await world.slack.delivered();
  world.events.length = 0;
  const press = { user: "bob", channel: "general", ts: message.message, action: "cancel" };
  const { status, triggerId } = await world.slack.press(press);
  expect(status).toBe(200);
  expect(world.events).toMatchObject([
    {
      kind: "button",
      id: `slack:interaction:${triggerId}`,
      place: `slack:T0SANDBOX:C0GENERAL:${ts}`,
      by: { id: "UBOB", name: "bob" },
      action: "cancel",
      dispatch: "d-7",
      answerVia: expect.stringContaining("/respond/"),
    },
  ]);
});

test("ages are by Slack's clock: ours may be days ahead", async () => {
  await using world = await createWorld({ now: () => Date.now() + 2 * 24 * 3_600_000 });
  const actions = [{ action: "cancel" as const, label: "Cancel", dispatch: "d1" }];
  const { message, place } = await performed(world.platform, card(general, { view: view({ actions }) }));
  await world.slack.say({ user: "bob", channel: "general", thread: message, text: "<@UBOT> and the docs" });
  expect(world.events.at(-1)).toMatchObject({ place, underOurs: true });
  await world.slack.press({ user: "bob", channel: "general", ts: message, action: "cancel" });
  expect(world.events.at(-1)).toMatchObject({ kind: "button", place });
  expect(world.events.at(-1)).not.toHaveProperty("old");
});

test("Slack gets no 200 before the event is saved", async () => {
  await using world = await createWorld();
  let release = (): void => {};
  world.accept = () =>
    new Promise((resolve) => {
      release = () => resolve("saved");
    });
  let answered = false;
  const said = world.slack.say({ user: "alice", channel: "general", text: "hello" }).finally(() => {
    answered = true;
  });
  await eventually("the event", () => world.events.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(answered).toBe(false);
  release();
  expect((await said).statuses).toEqual([200]);
});

test("an event that can't be saved is refused and delivered again until it is", async () => {
  await using world = await createWorld();
  let tries = 0;
  world.accept = async () => {
    tries += 1;
    if (tries < 3) throw new Error("the disk is full");
    return "saved";
  };
  const { statuses } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  expect(statuses).toEqual([503, 503, 200]);
  expect(new Set(world.events.map((event) => event.id)).size).toBe(1);
});

test("an event that came too early is refused and delivered again", async () => {
  await using world = await createWorld();
  world.accept = async () => (world.events.length < 2 ? "again" : "saved");
  const { statuses } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  expect(statuses).toEqual([503, 200]);
});

test("a command that can't be saved is refused", async () => {
  await using world = await createWorld();
  world.accept = () => Promise.reject(new Error("the disk is full"));
  expect((await world.slack.slash({ user: "alice", channel: "general", text: "list" })).status).toBe(503);
});

test("a message that does not concern the bot is acked", async () => {
  await using world = await createWorld();
  world.accept = async () => "ignored";
  expect((await world.slack.say({ user: "bob", channel: "general", text: "hi" })).statuses).toEqual([200]);
});

test.each(["forged", "stale"] as const)(
  "a %s signature is refused with 401 and nothing happens",
  async (signature) => {
    await using world = await createWorld({ retryDelaysMs: [] });
    const act = { user: "alice", channel: "general", signature };
    expect((await world.slack.slash({ ...act, text: "run rm" })).status).toBe(401);
    expect((await world.slack.say({ ...act, text: "@agent run rm" })).statuses).toEqual([401, 401]);
    expect(
      (await world.slack.send('{"type":"url_verification","challenge":"x"}', { signature })).status,
    ).toBe(401);
    expect(world.events).toEqual([]);
  },
);

test("a request without a signature is refused", async () => {
  await using world = await createWorld();
  const response = await fetch(world.botUrl, { method: "POST", body: "{}" });
  expect(response.status).toBe(401);
  expect(world.events).toEqual([]);
});

test("an unsigned check of the certificate is answered, and an event in it is ignored", async () => {
  await using world = await createWorld();
  const post = (body: Record<string, string>) =>
    fetch(world.botUrl, {
      method: "POST",
      body: new URLSearchParams(body).toString(),
      headers: { "content-type": form },
    });
  const command = {
    command: "/agent",
    text: "run it",
    user_id: "UALICE",
    channel_id: "C0GENERAL",
    trigger_id: "1",
  };
  const payload = JSON.stringify({
    type: "event_callback",
    event: { type: "message", channel: "C0GENERAL", user: "UALICE", text: "run it", ts: "1.1" },
  });
  expect((await post({ ssl_check: "1" })).status).toBe(200);
  expect((await post({ ...command, ssl_check: "1" })).status).toBe(200);
  expect((await post({ payload, ssl_check: "1" })).status).toBe(200);
  expect((await post({ ...command, ssl_check: "0" })).status).toBe(401);
  expect(world.events).toEqual([]);
});

test("Slack's verification of the URL is answered", async () => {
  await using world = await createWorld();
  const response = await world.slack.send('{"type":"url_verification","challenge":"c-42"}');
  expect(await response.json()).toEqual({ challenge: "c-42" });
});

test("a body with too large a Content-Length is refused before it is sent", async () => {
  await using world = await createWorld();
  const status = await new Promise((resolve, reject) => {
    const headers = { "content-length": String(60 * 1024 * 1024), "content-type": "application/json" };
    const sending = request(world.botUrl, { method: "POST", headers }, (response) => {
      resolve(response.statusCode);
      response.resume();
      sending.destroy();
    });
    sending.on("error", reject);
    sending.flushHeaders();
  });
  expect(status).toBe(413);
  expect(world.events).toEqual([]);
});

test("an endless body is refused while it arrives, and its connection ends", async () => {
  await using world = await createWorld();
  const { port, hostname, pathname } = new URL(world.botUrl);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (data) => {
    answer += data;
  });
  const ended = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => {});
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: bot\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const sending = setInterval(() => socket.writable && socket.write(chunk), 1);
  await ended;
  clearInterval(sending);
  expect(answer).toContain("413");
  expect(world.events).toEqual([]);
});

test("edits, deletions, joins and events of other kinds are acked and ignored", async () => {
  await using world = await createWorld();
  const act = { user: "alice", channel: "general" };
  const { ts } = await world.slack.say({ ...act, text: "hello" });
  world.events.length = 0;
  expect((await world.slack.edit({ ...act, ts, text: "@agent run this" })).statuses).toEqual([200]);
  expect((await world.slack.remove({ ...act, ts })).statuses).toEqual([200]);
  expect((await world.slack.say({ ...act, text: "joined", subtype: "channel_join" })).statuses).toEqual([
    200,
  ]);
  for (const event of [
    { type: "reaction_added", user: "UALICE", item: { type: "message", channel: "C0GENERAL", ts } },
    { type: "message", subtype: "a_subtype_of_next_year", channel: "C0GENERAL" },
    { type: "an_event_of_next_year" },
  ]) {
    const body = JSON.stringify({ type: "event_callback", team_id: "T0SANDBOX", event });
    expect((await world.slack.send(body)).status).toBe(200);
  }
  expect(world.events).toEqual([]);
});

test("signed bodies of an unknown kind are answered at once: 200 for an object, 400 for anything else", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "auth.test", times: 100, with: { status: 500 } });
  for (const body of [
    "{}",
    '{"type":"view_closed"}',
    '{"event":null}',
    '{"type":"event_callback","event":{"type":"an_event_of_next_year","ts":null}}',
  ]) {
    expect([body, (await world.slack.send(body)).status]).toEqual([body, 200]);
    const payload = `payload=${encodeURIComponent(body)}`;
    expect([payload, (await world.slack.send(payload, { contentType: form })).status]).toEqual([
      payload,
      200,
    ]);
  }
  for (const body of ["null", "[]", "1", '"text"', "true", "{", ""]) {
    expect([body, (await world.slack.send(body)).status]).toEqual([body, 400]);
  }
  expect((await world.slack.send("payload=null", { contentType: form })).status).toBe(400);
  expect((await world.slack.send("null", { signature: "forged" })).status).toBe(401);
  expect(world.events).toEqual([]);
});

test("a shared file and a reply that is also sent to the channel are messages", async () => {
  await using world = await createWorld();
  const act = { user: "alice", channel: "general" };
  await world.slack.say({ ...act, text: "see the file", subtype: "file_share" });
  await world.slack.say({ ...act, text: "to all", subtype: "thread_broadcast" });
  expect(world.events).toMatchObject([{ text: "see the file" }, { text: "to all" }]);
});

test("the bot's own messages never become events", async () => {
  await using world = await createWorld();
  await world.platform.perform(
    {
      kind: "reply",
      id: "e1",
      to: "slack:T0SANDBOX:C0GENERAL",
      at: "slack:T0SANDBOX:C0GENERAL",
      since: new Date().toISOString(),
      tries: 0,
      view: { tone: "plain", headline: ["<@UBOT> run it again"], details: [], actions: [] },
    },
    { uncertain: false, settlesInMs: 0 },
  );
  expect(messagesIn(world.slack)).toHaveLength(1);
  await world.slack.delivered();
  expect(world.events).toEqual([]);
});

test("events are refused until Slack returns the bot's identity", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "auth.test", times: 2, with: { status: 500 } });
  await world.receiver.start();
  const { statuses } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  expect(statuses).toEqual([503, 200]);
  expect(world.slack.calls.filter(({ method }) => method === "auth.test")).toHaveLength(1);
  await world.slack.say({ user: "alice", channel: "general", text: "again" });
  expect(world.slack.calls.filter(({ method }) => method === "auth.test")).toHaveLength(1);
});

test("a refused token is logged in words, with Slack's code", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "auth.test", with: { error: "invalid_auth" } });
  await world.receiver.start();
  expect(world.lines).toContainEqual({
    level: "warn",
    message: "Slack can't be used yet; events are refused until it can",
    fields: {
      reason: "Slack does not accept the bot's token; the bot's operator has to renew it.",
      error: expect.stringContaining("invalid_auth"),
    },
  });
});

test("neither secrets nor people's messages are logged", async () => {
  await using world = await createWorld({ retryDelaysMs: [10] });
  world.accept = () => Promise.reject(new Error("the disk is full"));
  await world.receiver.start();
  await world.slack.slash({ user: "alice", channel: "general", text: "run the-secret-plan" });
  await world.slack.say({ user: "alice", channel: "general", text: "the-secret-plan", signature: "forged" });
  const logged = JSON.stringify(world.lines);
  expect(logged).toContain("the disk is full");
  expect(logged).not.toMatch(/the-secret-plan|xoxb|test-signing-secret|respond\//);
});
