import { afterEach, expect, test } from "vitest";
import { createWorld, type World, type WorldOptions, written } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

let world: World;
const begin = async (options: WorldOptions = {}): Promise<void> => {
  world = await createWorld(options);
  await world.start();
};
afterEach(() => world.close());

const ask = async (prompt: string): Promise<string> => {
  const known = world.cards("general").length;
  await world.slack.slash({ user: "alice", channel: "general", text: `run ${prompt}` });
  return (await eventually("the card", () => world.cards("general")[known])).ts;
};
const replies = (ts: string, text: string) =>
  world
    .thread("general", ts)
    .filter((message) => message.ts !== ts && message.user === "UBOT" && written(message).includes(text));
/** The card has its button once it shows a run. */
const showsProgress = () =>
  eventually("the card", () => world.cards("general").some((card) => written(card).includes("In progress")));
const replyWith = (ts: string, text: string) =>
  eventually(`a reply with “${text}”`, () => replies(ts, text)[0]);

test("a create that the API made but never answered makes one run", async () => {
  await begin();
  world.failApi({ method: "POST", path: /\/agent\/runs?$/, when: "after" });
  const ts = await ask("fix it once");
  await replyWith(ts, "I read this");
  expect((await world.runs()).length).toBe(1);
  expect(world.creates().length).toBe(1);
});

test("a create that never arrived is made again", async () => {
  await begin();
  world.failApi({ method: "POST", path: /\/agent\/runs?$/, when: "before", times: 2 });
  const ts = await ask("fix it at last");
  await replyWith(ts, "I read this");
  expect((await world.runs()).length).toBe(1);
});

test("a refusal is told with the API's own reason and link", async () => {
  await begin();
  world.failApi({
    method: "POST",
    path: /\/agent\/runs?$/,
    when: "before",
    status: 401,
    body: {
      type: "https://example.com/errors/external_authentication_required",
      title: "GitHub has to be authorized first",
      status: 401,
      detail: "Authorize GitHub for this team.",
      auth_url: "https://example.com/authorize",
    },
  });
  const ts = await ask("fix it");
  const told = written(await replyWith(ts, "could not be started"));
  expect(told).toContain("Authorize GitHub for this team.");
  expect(told).toContain("https://example.com/authorize");
});

test("a follow-up whose answer got lost arrives once and starts no second run", async () => {
  await begin();
  const ts = await ask("fix it");
  await replyWith(ts, "I read this");
  world.failApi({ method: "POST", path: /\/followups$/, when: "after" });
  const said = await world.slack.say({ user: "alice", channel: "general", thread: ts, text: "and the docs" });
  await eventually(
    "the mark",
    () => world.thread("general", ts).find((message) => message.ts === said.ts)?.reactions?.length,
  );
  expect(world.apiCalls.filter(({ path }) => path.endsWith("/followups")).length).toBe(1);
  expect((await world.runs()).length).toBe(1);
});

test("errors while polling never end the following of a run", async () => {
  await begin();
  const ts = await ask("fix it");
  world.failApi({ method: "GET", path: /\/agent\/runs/, when: "before", times: 4 });
  world.failApi({
    method: "GET",
    path: /\/agent\/runs/,
    when: "before",
    times: 2,
    status: 500,
    body: { nonsense: true },
  });
  await replyWith(ts, "I read this");
});

test("a Slack that limits the final post gets it later, once", async () => {
  await begin();
  const ts = await ask("take your time");
  await showsProgress();
  world.slack.fail({ method: "chat.postMessage", times: 2, with: { retryAfter: 1 } });
  await world.slack.press({ user: "alice", channel: "general", ts, action: "cancel" });
  await replyWith(ts, "was cancelled");
  expect(replies(ts, "was cancelled").length).toBe(1);
});

test("posts that took effect without an answer are found, not repeated", async () => {
  await begin();
  world.slack.fail({ method: "chat.postMessage", with: { reset: "after" } });
  const ts = await ask("fix it");
  await replyWith(ts, "I read this");
  expect(world.cards("general").length).toBe(1);
  world.github.fail({ method: "POST", path: /\/comments$/, with: { reset: "after" } });
  const { number } = await world.github.openIssue({ user: "bob", repo: "octo/app", title: "Once", body: "" });
  await world.github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  await eventually("the answer", () =>
    world.comments(number).some(({ body }) => body.includes("I read this")),
  );
  expect(world.comments(number).filter(({ body }) => body.includes("Asked by")).length).toBe(1);
});

test("a restart in the middle of everything goes on where it was", async () => {
  await begin();
  const ts = await ask("take your time");
  await eventually("the run", async () => (await world.runs())[0]?.state === "INPROGRESS");
  const { number } = await world.github.openIssue({
    user: "bob",
    repo: "octo/app",
    title: "Restarted",
    body: "",
  });
  await world.github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  await world.kill();
  await world.start();
  await eventually("the answer", () =>
    world.comments(number).some(({ body }) => body.includes("I read this")),
  );
  await showsProgress();
  await world.slack.press({ user: "alice", channel: "general", ts, action: "cancel" });
  await replyWith(ts, "was cancelled");
  expect((await world.runs()).length).toBe(2);
  expect(world.cards("general").length).toBe(1);
});

test("killed at any moment of a dispatch, the bot makes one card, one run, and tells one end", async () => {
  await begin();
  for (const [index, delayMs] of [0, 5, 15, 30, 60, 120, 250].entries()) {
    const title = `kill ${index}`;
    const asking = world.slack.slash({
      user: "alice",
      channel: "general",
      text: `run --title "${title}" open a pull request ${index}`,
    });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await world.kill();
    const { status } = await asking;
    await world.start();
    if (status !== 200) continue;
    const card = await eventually(`the card of ${title}`, () =>
      world.cards("general").find((message) => written(message).includes(`open a pull request ${index}`)),
    );
    await replyWith(card.ts, "succeeded");
    expect(
      world.cards("general").filter((message) => written(message).includes(`open a pull request ${index}`))
        .length,
    ).toBe(1);
    expect((await world.runs()).filter((run) => run.title === title).length).toBe(1);
    expect(replies(card.ts, "succeeded").length).toBe(1);
  }
});

test("readiness names what is down, and a stopped bot exits in order", async () => {
  await begin();
  const ready = async () => {
    const response = await fetch(`${world.botUrl()}/readyz`);
    return { status: response.status, body: await response.text() };
  };
  expect((await ready()).status).toBe(200);
  world.slack.fail({ method: "auth.test", times: 50, with: { status: 500 } });
  const down = await eventually("slack to be named", async () => {
    const seen = await ready();
    return seen.status === 503 ? seen : null;
  });
  expect(JSON.parse(down.body)).toMatchObject({ store: "ok", api: "ok", github: "ok" });
  expect(down.body).toMatch(/"slack":"(?!ok)/);
  expect(await world.stop()).toBe(0);
});

test("more runs than the service works on at once all come to their end", async () => {
  await begin({ maxRuns: 2 });
  const asked = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      world.slack.slash({ user: "alice", channel: "general", text: `run task number ${index}` }),
    ),
  );
  expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 200));
  await eventually("twelve ends", () => {
    const cards = world.cards("general");
    return cards.length === 12 && cards.every(({ ts }) => replies(ts, "succeeded").length === 1);
  });
});
