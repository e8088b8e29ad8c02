import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { secrets } from "#test/support/bot/stand-ins.ts";
import { createWorld, type World, written } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

describe.each([
  ["over HTTP", false],
  ["in Socket Mode", true],
])("in Slack, %s", (_, socketMode) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld({ socketMode });
    await world.start();
  });
  afterAll(() => world.close());

  /** Requests a run by slash command and returns the card's ts. */
  const ask = async (prompt: string, user = "alice"): Promise<string> => {
    const known = world.cards("general").length;
    await world.slack.slash({ user, channel: "general", text: `run ${prompt}` });
    return (await eventually("the card", () => world.cards("general")[known])).ts;
  };
  const card = (ts: string) => eventually("the card", () => world.thread("general", ts)[0]);
  const told = async (user: string, text: string): Promise<string> => {
    const known = world.told(user).length;
    const pressed = await world.slack.slash({ user: user.slice(1).toLowerCase(), channel: "general", text });
    if (!socketMode) expect(pressed.status).toBe(200);
    return written(await eventually("a private answer", () => world.told(user)[known]));
  };
  const replyWith = (ts: string, text: string) =>
    eventually(`a reply with “${text}”`, () =>
      world
        .thread("general", ts)
        .find((message) => message.ts !== ts && message.user === "UBOT" && written(message).includes(text)),
    );

  test("a slash command becomes a card, a run, and an answer that mentions the person who asked", async () => {
    const ts = await ask("--model gpt-x --title 'The flaky one' fix the flaky test");
    const end = await replyWith(ts, "I read this");
    expect(written(end)).toContain("<@UALICE>");
    expect(written(end)).toContain("fix the flaky test");
    await eventually("the card to be final", async () => written(await card(ts)).includes("Succeeded"));
    const [run] = (await world.runs()).filter(({ title }) => title === "The flaky one");
    expect(run).toMatchObject({
      state: "SUCCEEDED",
      agent_config: { name: "agent-runs-bot", model_id: "gpt-x" },
    });
  });

  test("replies arrive in the order they were written, and start no second run", async () => {
    const before = (await world.runs()).length;
    const ts = await ask("take your time with this");
    for (const text of ["first", "second", "third"]) {
      await world.slack.say({ user: "alice", channel: "general", thread: ts, text: `${text} of three` });
    }
    const sent = () =>
      world.apiCalls.filter(({ path, body }) => path.endsWith("/followups") && body.includes("of three"));
    await eventually("three follow-ups", () => sent().length === 3);
    expect(sent().map(({ body }) => JSON.parse(body).message.split(" ")[0])).toEqual([
      "first",
      "second",
      "third",
    ]);
    expect((await world.runs()).length).toBe(before + 1);
    await world.slack.press({ user: "bob", channel: "general", ts, action: "cancel" });
    await replyWith(ts, "was cancelled");
    await eventually("the card to say so", async () => written(await card(ts)).includes("Cancelled"));
  });

  test("an aside is not sent to the run", async () => {
    const ts = await ask("fix the docs");
    await replyWith(ts, "I read this");
    const aside = await world.slack.say({
      user: "bob",
      channel: "general",
      thread: ts,
      text: "!aside lunch?",
    });
    const spoken = await world.slack.say({
      user: "bob",
      channel: "general",
      thread: ts,
      text: "also the index",
    });
    await eventually(
      "the later reply's mark",
      () => world.thread("general", ts).find((message) => message.ts === spoken.ts)?.reactions?.length,
    );
    expect(world.thread("general", ts).find((message) => message.ts === aside.ts)?.reactions).toBeUndefined();
    expect(world.apiCalls.some(({ body }) => body.includes("lunch?"))).toBe(false);
  });

  test("a mention that Slack delivers as two events starts one run, with the thread as context", async () => {
    const before = (await world.runs()).length;
    const first = await world.slack.say({
      user: "bob",
      channel: "general",
      text: "the build is red on Mondays",
    });
    await world.slack.say({ user: "alice", channel: "general", thread: first.ts, text: "<@UBOT> fix that" });
    const end = await replyWith(first.ts, "I read this");
    expect(written(end)).toContain("the build is red on Mondays");
    const runs = await world.runs();
    expect(runs.length).toBe(before + 1);
    expect(runs.at(-1)?.prompt).toContain("> the build is red on Mondays");
  });

  test("failures and questions are posted with their reasons, and a retry button pressed twice retries once", async () => {
    const ts = await ask("fail please");
    const end = await replyWith(ts, "failed");
    expect(written(end)).toContain("the tests are red");
    const before = (await world.runs()).length;
    await Promise.all(
      ["alice", "bob"].map((user) => world.slack.press({ user, channel: "general", ts, action: "retry" })),
    );
    await eventually(
      "the second end",
      () =>
        world
          .thread("general", ts)
          .filter((message) => message.user === "UBOT" && written(message).includes("the tests are red"))
          .length === 2,
    );
    expect((await world.runs()).length).toBe(before + 1);

    const blocked = await ask("ask me first");
    await replyWith(blocked, "Which database do you mean?");
    await eventually("the card to ask", async () =>
      written(await card(blocked)).includes("Needs your answer"),
    );
    await world.slack.say({ user: "alice", channel: "general", thread: blocked, text: "the old one" });
    await replyWith(blocked, "the old one");
  });

  test("unknown commands, help, list, status, attach and cancel get a private, helpful answer", async () => {
    expect(await told("UALICE", "rnu fix it")).toContain("Did you mean");
    expect(await told("UALICE", "run --colour red x")).toContain("--model");
    const help = await told("UALICE", "help");
    expect(help).toContain("run &lt;prompt&gt;");
    expect(help).toContain("`/agent` in a channel");
    const ts = await ask("--title Listed take your time");
    const run = await eventually("the run", async () =>
      (await world.runs()).find(({ title }) => title === "Listed"),
    );
    expect(await told("UBOB", "list")).toContain(run.run_id);
    expect(await told("UBOB", `status ${run.run_id}`)).toMatch(/progress|Queued/);
    expect(await told("UBOB", "status nothing-like-it-1")).toContain("There is no run");
    expect(await told("UBOB", `attach ${run.run_id}`)).toContain("already follows");
    expect(await told("UBOB", `cancel ${run.run_id}`)).toContain("Cancelling");
    await replyWith(ts, "was cancelled");
    expect(await told("UBOB", "cancel")).toContain("No run is active here");
  });

  test("attach follows a run that was started outside the bot", async () => {
    const known = world.cards("general").length;
    const created = await world.createElsewhere("a nightly job: take your time");
    await world.slack.slash({ user: "alice", channel: "general", text: `attach ${created}` });
    const { ts } = await eventually("its card", () => world.cards("general")[known]);
    await eventually("its state", async () => written(await card(ts)).includes("In progress"));
    const { status } = await world.slack.press({ user: "alice", channel: "general", ts, action: "cancel" });
    expect(status).toBe(200);
    await replyWith(ts, "was cancelled");
  });

  test("when two people attach the same run at once, one gets the card and the other learns that it is already followed", async () => {
    const known = world.cards("general").length;
    const heard = { UALICE: world.told("UALICE").length, UBOB: world.told("UBOB").length };
    const created = await world.createElsewhere("a weekly job: take your time");
    await Promise.all(
      ["alice", "bob"].map((user) =>
        world.slack.slash({ user, channel: "general", text: `attach ${created}` }),
      ),
    );
    const { ts } = await eventually("its card", () => world.cards("general")[known]);
    await eventually("the other's answer", () =>
      [...world.told("UALICE").slice(heard.UALICE), ...world.told("UBOB").slice(heard.UBOB)].some((message) =>
        written(message).includes("already follows"),
      ),
    );
    expect(world.cards("general")).toHaveLength(known + 1);
    await eventually("its state", async () => written(await card(ts)).includes("In progress"));
    await world.slack.press({ user: "alice", channel: "general", ts, action: "cancel" });
    await replyWith(ts, "was cancelled");
  });

  test("where the bot can't post, the person gets a private message and no run is created", async () => {
    const before = world.creates().length;
    await world.slack.slash({ user: "alice", channel: "random", text: "run fix it" });
    await eventually("the private word", () =>
      world.told("UALICE").some((told_) => written(told_).includes("/invite")),
    );
    expect(world.creates().length).toBe(before);
  });

  test("forged and stale requests are refused and have no effect", async () => {
    if (socketMode)
      return expect((await fetch(`${world.botUrl()}/slack/events`, { method: "POST" })).status).toBe(404);
    const before = world.creates().length;
    for (const signature of ["forged", "stale"] as const) {
      const { status } = await world.slack.slash({
        user: "alice",
        channel: "general",
        text: "run forged",
        signature,
      });
      expect(status, signature).toBe(401);
    }
    await told("UALICE", "help");
    expect(world.creates().length).toBe(before);
  });

  test("the log contains no secret", () => {
    for (const secret of Object.values(secrets)) {
      expect(world.log()).not.toContain(secret);
    }
  });
});
