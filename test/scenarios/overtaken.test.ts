/** Deliveries that arrive before what they belong to, as the network sometimes orders them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";
import { gitHubComment, gitHubHeaders, gitHubLabel, post, slackHeaders } from "#test/support/signed.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.start();
});
afterAll(() => world.close());

const followUps = (text: string): number =>
  world.apiCalls.filter(({ path, body }) => path.endsWith("/followups") && body.includes(text)).length;

async function toSlack(event: Readonly<Record<string, unknown>>): Promise<number> {
  const body = JSON.stringify({ type: "event_callback", team_id: "T1", event });
  return post(`${world.botUrl()}/slack/events`, body, slackHeaders(body));
}

test("in Slack, replies that arrive before the mention that they follow reach its run, once and in order", async () => {
  const before = world.creates().length;
  const root = await world.slack.say({ user: "bob", channel: "general", text: "the build is red" });
  const seconds = Number(root.ts.split(".")[0]);
  const inThread = (after: number, user: string, text: string) => ({
    type: "message",
    channel: world.channel("general").id,
    channel_type: "channel",
    user,
    text,
    ts: `${seconds + after}.000100`,
    thread_ts: root.ts,
    parent_user_id: "UBOB",
  });
  const early = inThread(1, "UBOB", "nobody has asked yet");
  const mention = inThread(2, "UALICE", "<@UBOT> take your time with that");
  const first = inThread(3, "UALICE", "the first overtaking reply");
  const second = inThread(4, "UALICE", "the second overtaking reply");
  for (const event of [second, early, first, second]) expect(await toSlack(event)).toBe(200);
  for (const type of ["app_mention", "message"]) expect(await toSlack({ ...mention, type })).toBe(200);
  await eventually("both follow-ups", () => followUps("overtaking reply") === 2);
  const sent = world.apiCalls.filter(({ body }) => body.includes("overtaking reply"));
  expect(sent.map(({ body }) => /the (\w+) overtaking/.exec(body)?.[1])).toEqual(["first", "second"]);
  for (const event of [first, second, mention]) expect(await toSlack(event)).toBe(200);
  await eventually("the mark of a later reply", async () => {
    await toSlack(inThread(5, "UALICE", "a reply in time"));
    return followUps("a reply in time") > 0;
  });
  expect([
    followUps("overtaking reply"),
    followUps("nobody has asked"),
    followUps("a reply in time"),
  ]).toEqual([2, 0, 1]);
  expect(world.creates()).toHaveLength(before + 1);
});

test("on GitHub, a comment that arrives before the label that it follows reaches its run once", async () => {
  const before = world.creates().length;
  const { number } = await world.github.openIssue({
    user: "alice",
    repo: "octo/app",
    title: "take your time",
    body: "It is slow",
  });
  const labeled = Date.now();
  const send = async (event: string, payload: unknown): Promise<number> => {
    const body = JSON.stringify(payload);
    return post(`${world.botUrl()}/github/webhooks`, body, gitHubHeaders(body, { event }));
  };
  const comment = gitHubComment(number, "the overtaking comment", "alice");
  const commented = { ...comment.comment, created_at: new Date(labeled + 1_000).toISOString() };
  const label = gitHubLabel(number);
  const issue = { ...label.issue, updated_at: new Date(labeled).toISOString(), title: "take your time" };
  const sender = { login: "alice", type: "User" };
  expect(await send("issue_comment", { ...comment, comment: commented })).toBe(200);
  expect(await send("issues", { ...label, issue, sender, label: { name: "agent" } })).toBe(200);
  await eventually("the follow-up", () => followUps("the overtaking comment") === 1);
  expect(world.creates()).toHaveLength(before + 1);
});
