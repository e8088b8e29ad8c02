import { expect, test } from "vitest";
import { readPayload } from "#slack/payloads.ts";
import { type Self, translate, translateStored } from "#slack/translate.ts";
import { plainText } from "#slack/wire-text.ts";

const self: Self = { teamId: "T1", userId: "UBOT", botId: "B1", enterpriseId: "E1" };
const now = Date.parse("2026-11-21T12:00:00Z");
const at = (agoMs: number): string => `${Math.floor((now - agoMs) / 1000)}.000100`;

/** The event in the body of a delivery. */
function eventIn(body: unknown) {
  const payload = readPayload(body);
  return payload ? translate(payload, self, now) : null;
}

const message = (fields: Record<string, unknown>) => ({
  type: "event_callback",
  team_id: "T1",
  event: { type: "message", channel: "C1", user: "U1", text: "hi", ts: at(0), ...fields },
});

test.each([
  ["a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"],
  ["&amp;lt;", "&lt;"],
  ["ask <@U12345>", "ask @U12345"],
  ["ask <@U12345|bob>", "ask @bob"],
  ["in <#C1|general>", "in #general"],
  ["in <#C1>", "in #C1"],
  ["see <https://a.example/x?a=1&amp;b=2>", "see https://a.example/x?a=1&b=2"],
  ["see <https://a.example/x|the page>", "see the page (https://a.example/x)"],
  ["fix <http://foo.py|foo.py>", "fix foo.py"],
  ["to <mailto:a@b.example|a@b.example>", "to a@b.example"],
  ["<!channel> <!here> <!everyone>", "@channel @here @everyone"],
  ["<!subteam^S1|@team> <!subteam^S1>", "@team @S1"],
  ["<!date^1392734382^{date}|Feb 18>", "Feb 18"],
  ["x < y > z", "x < y > z"],
])("%j reads as %j", (wire, plain) => {
  expect(plainText(wire)).toBe(plain);
});

test.each([
  ["<@UBOT> fix it", "fix it"],
  ["<@UBOT>: fix it", "fix it"],
  ["<@UBOT|agent>, fix it", "fix it"],
  ["please <@UBOT> fix it", "please fix it"],
])("the mention is removed from %j", (text, plain) => {
  expect(eventIn(message({ text }))).toMatchObject({ text: plain, mention: true });
});

test("attached files set a flag, and malformed ones are ignored", () => {
  const withFiles = (files: unknown) => eventIn(message({ subtype: "file_share", files }));
  expect(withFiles([{ id: "F1", name: "log.txt" }])).toMatchObject({ files: true });
  expect(withFiles([])).not.toHaveProperty("files");
  expect(withFiles("none")).not.toHaveProperty("files");
});

test("a mention of somebody else is not a mention of the bot", () => {
  const event = eventIn(message({ text: "<@UBOTH> fix it" }));
  expect(event).toMatchObject({ text: "@UBOTH fix it", mention: false });
});

test("a message's time is its timestamp, to the millisecond", () => {
  expect(eventIn(message({ ts: "1700000000.123456" }))).toMatchObject({
    at: "2023-11-14T22:13:20.123Z",
  });
});

test("a reply is under the bot's message if that is less than a day old", () => {
  const under = (fields: Record<string, unknown>) => eventIn(message(fields));
  const hour = 60 * 60_000;
  expect(under({ thread_ts: at(23 * hour), parent_user_id: "UBOT" })).toMatchObject({ underOurs: true });
  expect(under({ thread_ts: at(25 * hour), parent_user_id: "UBOT" })).toMatchObject({ underOurs: false });
  expect(under({ thread_ts: at(23 * hour), parent_user_id: "U2" })).toMatchObject({ underOurs: false });
  expect(under({ parent_user_id: "UBOT" })).toMatchObject({ underOurs: false, first: true });
});

test("bots are recognised by bot_id and by subtype", () => {
  const by = (fields: Record<string, unknown>) => eventIn(message(fields))?.by;
  expect(by({})).toMatchObject({ id: "U1", bot: false });
  expect(by({ bot_id: "B9", bot_profile: { name: "deploys" } })).toMatchObject({
    name: "deploys",
    bot: true,
  });
  expect(by({ subtype: "bot_message", user: undefined, username: "ci" })).toMatchObject({
    name: "ci",
    bot: true,
  });
});

test("the bot's own messages are ignored", () => {
  expect(eventIn(message({ user: "UBOT" }))).toBeNull();
  expect(eventIn(message({ subtype: "bot_message", user: undefined, bot_id: "B1" }))).toBeNull();
});

test.each(["message_changed", "message_deleted", "channel_join", "channel_topic", "one_of_next_year"])(
  "a message of subtype %s is ignored",
  (subtype) => {
    expect(eventIn(message({ subtype }))).toBeNull();
  },
);

test.each([
  ["user_team", { user_team: "T2", team: self.teamId }],
  ["team", { team: "T2" }],
  ["the profile", { user_profile: { name: "eve", team: "T2" } }],
  ["their file", { subtype: "file_share", files: [{ id: "F1", user: "U1", user_team: "T2" }] }],
])("people of another company may not use the bot if only %s names their company", (_, fields) => {
  const stored = { ts: at(0), user: "U1", text: "hi", ...fields };
  const author = { platform: "slack", id: "U1", permission: "none" };
  expect(eventIn(message(fields))).toMatchObject({ by: author });
  expect(translateStored(stored, "C1", self, now)).toMatchObject({ by: author });
});

test.each([
  { team: self.teamId },
  { team: "T2", user_team: self.teamId },
  { files: [{ id: "F1", user: "U1", user_team: self.teamId }] },
  // Somebody of another company uploaded the file.
  { files: [{ id: "F1", user: "U9", user_team: "T2" }] },
  { files: [null, { id: "F1", user: "U1" }] },
])("a member with the fields %j may use the bot", (fields) => {
  const stored = { ts: at(0), user: "U1", text: "hi", ...fields };
  expect(eventIn(message(fields))?.by).not.toHaveProperty("permission");
  expect(translateStored(stored, "C1", self, now)?.by).not.toHaveProperty("permission");
});

test("in a channel that is not shared, another workspace is one of the bot's organization", () => {
  const permission = (is_ext_shared_channel: boolean, fields: Record<string, unknown>) =>
    eventIn({ ...message(fields), is_ext_shared_channel })?.by.permission;
  expect(permission(false, { team: "T3" })).toBeUndefined();
  expect(permission(true, { team: "T3" })).toBe("none");
  expect(permission(false, { user_team: "T3" })).toBe("none");
});

test("in a channel shared with another company the bot's own team is used", () => {
  const shared = { ...message({ user_team: "T2" }), team_id: "T2" };
  expect(eventIn(shared)).toMatchObject({ scope: "slack:T1:C1" });
});

test("people of another company may not use the bot; people of the same organization may", () => {
  const permission = (team: string) => [
    eventIn(message({ user_team: team }))?.by.permission,
    eventIn(press({ user: { id: "U1", team_id: team } }))?.by.permission,
  ];
  expect(permission("T2")).toEqual(["none", "none"]);
  expect(permission("T1")).toEqual([undefined, undefined]);
  expect(permission("E1")).toEqual([undefined, undefined]);
});

const press = (fields: Record<string, unknown> = {}, action: Record<string, unknown> = {}) => ({
  type: "block_actions",
  trigger_id: "12.34",
  user: { id: "U1", username: "alice" },
  channel: { id: "C1" },
  container: { type: "message", message_ts: at(5000), channel_id: "C1" },
  message: { ts: at(5000) },
  actions: [{ action_id: "retry", value: "d1", action_ts: at(0), ...action }],
  ...fields,
});

test("a button on a card that starts its thread has that card's place", () => {
  expect(eventIn(press())).toMatchObject({
    id: "slack:interaction:12.34",
    place: `slack:T1:C1:${at(5000)}`,
    action: "retry",
    dispatch: "d1",
  });
});

test("a button without a trigger id is identified by message, person and time", () => {
  const id = `slack:interaction:${at(5000)}-U1-${at(0)}`;
  expect(eventIn(press({ trigger_id: undefined }))).toMatchObject({ id });
});

test("a button on a card older than a day is marked as old", () => {
  const oldTs = at(25 * 3_600_000);
  expect(eventIn(press())).not.toHaveProperty("old");
  expect(eventIn(press({ message: { ts: oldTs } }))).toMatchObject({ old: true });
});

test("a button of another kind, or without a dispatch, is ignored", () => {
  expect(eventIn(press({}, { action_id: "launch" }))).toBeNull();
  expect(eventIn(press({}, { value: "" }))).toBeNull();
});

test.each([null, "text", 7, {}, { type: "event_callback" }, { type: "view_submission" }])(
  "%j is ignored without an error",
  (body) => {
    expect(eventIn(body)).toBeNull();
  },
);
