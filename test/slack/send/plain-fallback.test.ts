import { expect, test } from "vitest";
import {
  base,
  card,
  createWorld,
  faultOf,
  general,
  messagesIn,
  performed,
  reply,
  tell,
  view,
} from "#test/support/slack/world.ts";

test("an answer whose form Slack refuses is sent as plain text, in new and in edited messages", async () => {
  await using world = await createWorld();
  const table = "| a | b |\n| - | - |\n| 1 | <!channel> |";
  const twoTables = view({ headline: ["Done"], answer: `${table}\n\n${table}`, details: [["Session"]] });
  const { message, place } = await performed(world.platform, card(general));
  await performed(world.platform, reply(place, { view: twoTables }));
  await performed(world.platform, card(place, { id: "e2", message, view: twoTables }));
  for (const { blocks } of messagesIn(world.slack)) {
    expect(blocks).toMatchObject([
      { type: "section" },
      { type: "section", text: { text: expect.stringContaining("| 1 | &lt;\u200b!\u200bchannel&gt; |") } },
      { type: "section", text: { text: "Session" } },
    ]);
  }
  expect(messagesIn(world.slack)).toHaveLength(2);
  const posts = world.slack.calls.filter(({ method }) => method === "chat.postMessage");
  expect(posts.map(({ params }) => JSON.stringify(params.blocks).includes("markdown"))).toEqual([
    false,
    true,
    false,
  ]);
});

test.each(["\n<&>@everyone", "x", "😀", "!channel@U12345", " \n"])(
  "a long answer of %j fits Slack's limits as plain text too",
  async (piece) => {
    await using world = await createWorld();
    world.slack.fail({ method: "chat.postMessage", with: { error: "invalid_blocks" } });
    await performed(world.platform, reply(general, { view: view({ answer: `a${piece.repeat(20_000)}z` }) }));
    expect(JSON.stringify(messagesIn(world.slack)[0]?.blocks)).toContain("longer than Slack allows");
  },
);

test("a private message falls back to plain text too", async () => {
  await using world = await createWorld();
  const table = "| a | b |\n| - | - |\n| 1 | 2 |";
  await performed(world.platform, tell(general, { view: view({ answer: `${table}\n\n${table}` }) }));
  const [whisper] = world.slack.snapshot().ephemerals.UALICE ?? [];
  expect(JSON.stringify(whisper?.blocks)).toContain("| 1 | 2 |");
});

test("a message that is refused as plain text too is a fault", async () => {
  await using world = await createWorld();
  world.slack.fail({ method: "chat.postMessage", times: 2, with: { error: "msg_too_long" } });
  expect(await faultOf(world.platform, card(general))).toMatchObject({
    certainty: "refused",
    retryable: false,
    code: "msg_too_long",
  });
  expect(messagesIn(world.slack)).toEqual([]);
});

test("an answer in plain text is read back as context of a later run", async () => {
  await using world = await createWorld();
  const { place } = await performed(world.platform, card(general));
  world.slack.fail({ method: "chat.postMessage", with: { error: "invalid_blocks" } });
  const answered = view({ headline: ["Done"], answer: "Fixed <all> of it.", details: [["Session"]] });
  await performed(world.platform, reply(place, { view: answered }));
  const until = new Date(Date.now() + 60_000).toISOString();
  const read = { ...base(place), at: place, kind: "read" as const, dispatch: "d1", until };
  const { messages } = await performed<"read">(world.platform, read);
  expect(messages).toMatchObject([{ text: "Done\n\nFixed <all> of it." }]);
});
