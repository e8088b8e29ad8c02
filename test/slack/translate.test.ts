import { expect, test } from "vitest";
import { type Self, translate } from "#slack/translate.ts";
import { plainText } from "#slack/wire-text.ts";

const self: Self = { teamId: "T1", userId: "UBOT", botId: "B1", enterpriseId: "E1" };
const now = Date.parse("2026-11-21T12:00:00Z");
const at = (agoMs: number): string => `${Math.floor((now - agoMs) / 1000)}.000100`;

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
])("the mention is taken out of %j", (text, plain) => {
  expect(translate(message({ text }), self, now)).toMatchObject({ text: plain, mention: true });
});

test("files are noticed, whatever Slack says of them", () => {
  const withFiles = (files: unknown) => translate(message({ subtype: "file_share", files }), self, now);
  expect(withFiles([{ id: "F1", name: "log.txt" }])).toMatchObject({ files: true });
  expect(withFiles([])).not.toHaveProperty("files");
  expect(withFiles("none")).not.toHaveProperty("files");
});

test("somebody else's mention is no mention of the bot", () => {
  const event = translate(message({ text: "<@UBOTH> fix it" }), self, now);
  expect(event).toMatchObject({ text: "@UBOTH fix it", mention: false });
});

test("a message's time is its timestamp, to the millisecond", () => {
  expect(translate(message({ ts: "1700000000.123456" }), self, now)).toMatchObject({
    at: "2023-11-14T22:13:20.123Z",
  });
});

test("a reply stands under ours when our message is less than a day old", () => {
  const under = (fields: Record<string, unknown>) => translate(message(fields), self, now);
  const hour = 60 * 60_000;
  expect(under({ thread_ts: at(23 * hour), parent_user_id: "UBOT" })).toMatchObject({ underOurs: true });
  expect(under({ thread_ts: at(25 * hour), parent_user_id: "UBOT" })).toMatchObject({ underOurs: false });
  expect(under({ thread_ts: at(23 * hour), parent_user_id: "U2" })).toMatchObject({ underOurs: false });
  expect(under({ parent_user_id: "UBOT" })).toMatchObject({ underOurs: false, first: true });
});

test("bots are told by bot_id, by subtype and by being the bot itself", () => {
  const by = (fields: Record<string, unknown>) => translate(message(fields), self, now)?.by;
  expect(by({})).toMatchObject({ id: "U1", bot: false });
  expect(by({ bot_id: "B9", bot_profile: { name: "deploys" } })).toMatchObject({
    name: "deploys",
    bot: true,
  });
  expect(by({ subtype: "bot_message", user: undefined, username: "ci" })).toMatchObject({
    name: "ci",
    bot: true,
  });
  expect(by({ user: "UBOT" })).toMatchObject({ id: "UBOT", bot: true });
});

test.each(["message_changed", "message_deleted", "channel_join", "channel_topic", "one_of_next_year"])(
  "a message of subtype %s tells nothing",
  (subtype) => {
    expect(translate(message({ subtype }), self, now)).toBeNull();
  },
);

test("in a channel shared with another company the team is still ours", () => {
  const shared = { ...message({ user_team: "T2" }), team_id: "T2" };
  expect(translate(shared, self, now)).toMatchObject({ scope: "slack:T1:C1" });
});

test("people of another company may not use the bot, those of our own organization may", () => {
  const permission = (team: string) => [
    translate(message({ user_team: team }), self, now)?.by.permission,
    translate(press({ user: { id: "U1", team_id: team } }), self, now)?.by.permission,
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

test("a button on a card that begins its thread has that card's place", () => {
  expect(translate(press(), self, now)).toMatchObject({
    id: "slack:interaction:12.34",
    place: `slack:T1:C1:${at(5000)}`,
    action: "retry",
    dispatch: "d1",
  });
});

test("a button without a trigger id is known by message, person and time", () => {
  const id = `slack:interaction:${at(5000)}-U1-${at(0)}`;
  expect(translate(press({ trigger_id: undefined }), self, now)).toMatchObject({ id });
});

test("a button tells when its card is so old that a missing thread was removed", () => {
  const oldTs = at(25 * 3_600_000);
  expect(translate(press(), self, now)).not.toHaveProperty("old");
  expect(translate(press({ message: { ts: oldTs } }), self, now)).toMatchObject({ old: true });
});

test("a button of another kind, or without a dispatch, tells nothing", () => {
  expect(translate(press({}, { action_id: "launch" }), self, now)).toBeNull();
  expect(translate(press({}, { value: "" }), self, now)).toBeNull();
});

test.each([null, "text", 7, {}, { type: "event_callback" }, { type: "view_submission" }])(
  "%j tells nothing and is no error",
  (body) => {
    expect(translate(body, self, now)).toBeNull();
  },
);
