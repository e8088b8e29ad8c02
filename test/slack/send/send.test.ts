import { createServer } from "node:http";
import { expect, test } from "vitest";
import { emptyWorkspace } from "#sandbox/slack/workspace.ts";
import { createSlackPlatform } from "#slack/send/send.ts";
import { eventually } from "#test/support/eventually.ts";
import { listen } from "#test/support/listen.ts";
import { silentLog } from "#test/support/logs.ts";
import {
  base,
  botToken,
  card,
  clock,
  createWorld,
  faultOf,
  general,
  messagesIn,
  performed,
  random,
  reply,
  sure,
  unsure,
  view,
} from "#test/support/slack/world.ts";

test("a card in a channel starts a place, and later cards of that place go to its thread", async () => {
  await using world = await createWorld();
  const first = await performed(world.platform, card(general));
  expect(first.place).toBe(`${general}:${first.message}`);
  const second = await performed(world.platform, card(first.place, { id: "e2", revision: 4 }));
  expect(second).toMatchObject({ place: first.place, revision: 4 });
  expect(messagesIn(world.slack)).toMatchObject([
    { ts: first.message, text: "Queued", metadata: { event_payload: { effect: "e-card" } } },
    { ts: second.message, thread_ts: first.message },
  ]);
});

test("a card is edited in place and keeps its effect's id", async () => {
  await using world = await createWorld();
  const { message, place } = await performed(world.platform, card(general));
  const edit = card(place, { id: "e2", message, revision: 2, view: view({ headline: ["Working"] }) });
  expect(await performed(world.platform, edit)).toMatchObject({ revision: 2, message, place });
  expect(await performed(world.platform, edit)).toMatchObject({ message });
  expect(messagesIn(world.slack)).toMatchObject([
    { ts: message, text: "Working", metadata: { event_payload: { effect: "e-card" } } },
  ]);
});

test("editing a deleted card is a final refusal", async () => {
  await using world = await createWorld();
  const { message, place } = await performed(world.platform, card(general));
  await world.slack.remove({ user: "alice", channel: "general", ts: message });
  expect(await faultOf(world.platform, card(place, { message }))).toMatchObject({
    certainty: "refused",
    retryable: false,
    code: "message_not_found",
  });
});

test("a reply goes to the thread, unfurls nothing and carries the effect's id", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  const { message } = await performed(world.platform, reply(`${general}:${ts}`));
  expect(messagesIn(world.slack)[1]).toMatchObject({
    ts: message,
    thread_ts: ts,
    metadata: { event_type: "agent_runs_bot", event_payload: { effect: "e-reply" } },
  });
  expect(world.slack.calls.find(({ method }) => method === "chat.postMessage")?.params).toMatchObject({
    unfurl_links: "false",
    unfurl_media: "false",
  });
});

for (const trouble of ["hang", "reset"] as const) {
  test(`a post whose answer never came (${trouble}) is found again and not repeated`, async () => {
    await using world = await createWorld({ timeoutMs: 1_000 });
    const place = (await performed(world.platform, card(general))).place;
    for (const [effect, count] of [
      [card(general, { id: "e-2" }), 2],
      [reply(place, { id: "e-3" }), 3],
    ] as const) {
      world.slack.fail({ method: "chat.postMessage", with: { [trouble]: "after" } });
      expect(await faultOf(world.platform, effect)).toMatchObject({ certainty: "unknown", retryable: true });
      expect(messagesIn(world.slack)).toHaveLength(count);
      const found = await performed(world.platform, effect, unsure);
      expect(messagesIn(world.slack)).toHaveLength(count);
      expect(messagesIn(world.slack).at(-1)?.ts).toBe(found.message);
    }
  });
}

test("a card that is found again shows the newest view", async () => {
  await using world = await createWorld({ timeoutMs: 1_000 });
  world.slack.fail({ method: "chat.postMessage", with: { reset: "after" } });
  expect(await faultOf(world.platform, card(general))).toMatchObject({ certainty: "unknown" });
  const newer = card(general, { revision: 2, view: view({ headline: ["Working"] }) });
  expect(await performed(world.platform, newer, unsure)).toMatchObject({ revision: 2 });
  expect(messagesIn(world.slack)).toMatchObject([{ text: "Working" }]);
});

test("an uncertain post that is not found is posted", async () => {
  await using world = await createWorld({ timeoutMs: 1_000 });
  world.slack.fail({ method: "chat.postMessage", with: { hang: "before" } });
  expect(await faultOf(world.platform, card(general))).toMatchObject({ certainty: "unknown" });
  expect(messagesIn(world.slack)).toHaveLength(0);
  await performed(world.platform, card(general), unsure);
  expect(messagesIn(world.slack)).toHaveLength(1);
});

test("an earlier post is found many pages away", async () => {
  await using world = await createWorld();
  const { place } = await performed(world.platform, card(general));
  const effect = reply(place, { id: "e-far" });
  const { message } = await performed(world.platform, effect);
  const initial = world.slack.snapshot();
  const [home, ...others] = initial.channels;
  if (home === undefined) throw new Error("no channel");
  const [root, posted] = home.messages;
  if (root === undefined || posted === undefined) throw new Error("no messages");
  const noise = Array.from({ length: 450 }, (_, index) => ({
    ts: `${Number(root.ts) + 0.001 * (index + 1)}`,
    thread_ts: root.ts,
    user: "UBOB",
    text: "noise",
  }));
  const messages = [root, ...noise, posted];
  await using later = await createWorld({
    initial: { ...initial, channels: [{ ...home, messages }, ...others] },
  });
  const found = await performed(later.platform, effect, unsure);
  expect(found.message).toBe(message);
  expect(later.slack.calls.filter(({ method }) => method === "conversations.replies")).toHaveLength(4);
});

test("somebody else's message with the effect's id is not taken for the bot's", async () => {
  const metadata = { event_type: "agent_runs_bot", event_payload: { effect: "e-card" } };
  const ts = `${Math.floor(Date.now() / 1000)}.000100`;
  const messages = [{ ts, user: "UBOB", text: "fake", metadata }];
  const channels = emptyWorkspace.channels.map((channel) => ({ ...channel, messages }));
  await using world = await createWorld({ initial: { ...emptyWorkspace, channels } });
  const { message } = await performed(world.platform, card(general), unsure);
  expect(message).not.toBe(ts);
});

test("a failed search leaves the effect uncertain, posts nothing and holds up no other post", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "conversations.history", with: { retryAfter: 30 } });
  expect(await faultOf(world.platform, card(general), unsure)).toMatchObject({
    certainty: "unknown",
    retryable: true,
    searching: true,
    retryAfterMs: 30_000,
  });
  // Posts are not limited.
  await performed(world.platform, card(general, { id: "e-2" }));
  expect(messagesIn(world.slack)).toHaveLength(1);
});

test.each([
  [{ retryAfter: 7 }, { certainty: "refused", retryable: true, limited: true, retryAfterMs: 7_000 }],
  [{ error: "ratelimited" }, { certainty: "refused", retryable: true, limited: true }],
  [{ status: 503 }, { certainty: "unknown", retryable: true, code: "http_503" }],
  [{ status: 403 }, { certainty: "refused", retryable: false, code: "http_403" }],
  [{ status: 200 }, { certainty: "unknown", retryable: true }],
  [{ reset: "before" }, { certainty: "unknown", retryable: true }],
  [{ error: "internal_error" }, { certainty: "unknown", retryable: true, code: "internal_error" }],
  [{ error: "request_timeout" }, { certainty: "unknown", retryable: true }],
  [{ error: "restricted_action" }, { certainty: "refused", retryable: false, code: "restricted_action" }],
  [{ error: "missing_scope" }, { certainty: "refused", retryable: false, code: "missing_scope" }],
  [{ error: "invalid_auth" }, { certainty: "refused", retryable: true, code: "invalid_auth" }],
  [{ error: "token_revoked" }, { certainty: "refused", retryable: true, code: "token_revoked" }],
  [{ error: "token_expired" }, { certainty: "refused", retryable: true, code: "token_expired" }],
  [{ error: "not_authed" }, { certainty: "refused", retryable: true, code: "not_authed" }],
  [{ error: "account_inactive" }, { certainty: "refused", retryable: true, code: "account_inactive" }],
  [{ error: "an_error_of_next_year" }, { certainty: "refused", retryable: false }],
] as const)("when Slack answers %j, the fault is %j", async (trouble, fault) => {
  await using world = await createWorld();
  world.slack.fail({ method: "chat.postMessage", with: trouble });
  const found = await faultOf(world.platform, card(general));
  expect(found).toMatchObject(fault);
  expect(found.reason).toMatch(/\.$/);
});

test("the refusal in a channel without the bot says how to invite it", async () => {
  await using world = await createWorld();
  expect(await faultOf(world.platform, card(random))).toMatchObject({
    certainty: "refused",
    retryable: false,
    code: "not_in_channel",
    reason: expect.stringContaining("/invite"),
  });
  expect(await faultOf(world.platform, card("slack:T0SANDBOX:C0NOWHERE"))).toMatchObject({
    code: "channel_not_found",
    reason: expect.stringContaining("/invite"),
  });
});

test("an archived channel is a final refusal, a wrong token is not", async () => {
  const channels = emptyWorkspace.channels.map((channel) => ({ ...channel, archived: true }));
  await using world = await createWorld({ initial: { ...emptyWorkspace, channels } });
  expect(await faultOf(world.platform, card(general))).toMatchObject({
    code: "is_archived",
    retryable: false,
  });
  const stranger = createSlackPlatform({
    botToken: "xoxb-other",
    apiUrl: world.apiUrl,
    log: silentLog,
    clock,
  });
  expect(await faultOf(stranger, card(general))).toMatchObject({ code: "invalid_auth", retryable: true });
  await expect(stranger.check()).rejects.toThrow(/token/);
});

test("a refused connection means that nothing was sent", async () => {
  const server = createServer();
  const { url, close } = await listen(server);
  await close();
  const platform = createSlackPlatform({ botToken, apiUrl: `${url}/api/`, log: silentLog, clock });
  expect(await faultOf(platform, card(general))).toMatchObject({ certainty: "not-sent", retryable: true });
  await expect(platform.check()).rejects.toThrow(/reached/);
});

test("the check passes if Slack accepts the token", async () => {
  await using world = await createWorld();
  await world.platform.check();
  expect(world.slack.calls.map(({ method }) => method)).toEqual(["auth.test"]);
});

test("a place of another platform is refused", async () => {
  await using world = await createWorld();
  expect(await faultOf(world.platform, reply("github:octo/app#1"))).toMatchObject({
    certainty: "refused",
    retryable: false,
  });
});

test("a reaction succeeds if it exists already or its message is gone", async () => {
  await using world = await createWorld();
  const { ts } = await world.slack.say({ user: "alice", channel: "general", text: "hello" });
  const react = (reaction: "taken" | "refused", message = ts) =>
    performed<"react">(world.platform, {
      ...base(`${general}:${ts}`),
      at: `${general}:${ts}`,
      kind: "react",
      message,
      reaction,
    });
  await react("taken");
  await react("taken");
  await react("refused");
  expect(messagesIn(world.slack)[0]?.reactions).toEqual([
    { name: "eyes", users: ["UBOT"] },
    { name: "no_entry", users: ["UBOT"] },
  ]);
  await react("taken", "1700000000.000100");
});

test("label and permission effects succeed without a call", async () => {
  await using world = await createWorld();
  const at = `${general}:1700000000.000100`;
  const label = { ...base(at), at, kind: "label" as const, label: "agent:done" as const, revision: 3 };
  expect(await performed<"label">(world.platform, label)).toEqual({ ok: true, kind: "label", revision: 3 });
  const person = { platform: "slack", id: "UALICE", name: "alice", bot: false };
  const permission = { ...base(at), at, kind: "permission" as const, person };
  expect(await performed<"permission">(world.platform, permission)).toMatchObject({ permission: "write" });
  expect(world.slack.calls).toEqual([]);
});

test("a card's buttons and its mention work in the stand-in", async () => {
  await using world = await createWorld();
  const alice = { platform: "slack", id: "UALICE", name: "alice", bot: false };
  const { message } = await performed(
    world.platform,
    card(general, {
      view: view({
        headline: [{ person: alice }, " asked"],
        answer: "all <!channel> done",
        actions: [
          { action: "cancel", label: "Cancel", dispatch: "d1" },
          { action: "cancel", label: "Cancel the other", dispatch: "d2" },
        ],
      }),
    }),
  );
  await world.slack.delivered();
  const press = { user: "alice", channel: "general", ts: message, action: "cancel" };
  await world.slack.press({ ...press, button: 1 });
  expect(world.events).toMatchObject([{ kind: "button", dispatch: "d2", action: "cancel" }]);
  expect(JSON.stringify(messagesIn(world.slack))).toContain("<@UALICE> asked");
  expect(JSON.stringify(messagesIn(world.slack))).not.toContain("<!channel>");
});

test("a rate-limited call does not hold up other calls", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "chat.postMessage", with: { retryAfter: 600 } });
  const limited = world.platform.perform(card(general), sure);
  await performed(world.platform, card(general, { id: "e-2" }));
  expect(await limited).toMatchObject({ ok: false, fault: { limited: true, retryAfterMs: 600_000 } });
  await eventually("the message", () => messagesIn(world.slack).length === 1);
});
