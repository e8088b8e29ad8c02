import { describe, expect, it } from "vitest";
import { appAuth, repo, type StartOptions, start, tokenAuth } from "#test/support/github/start.ts";

const scopes = [`github:${repo}`];
const nowhere = "http://127.0.0.1:9/github/webhooks";

/** The webhooks whose deliveries the bot may see. */
const ways: readonly [string, StartOptions][] = [
  ["the App's webhook", { auth: appAuth }],
  ["the repository's webhook", { auth: tokenAuth, hooksAllowed: true }],
];

/** Starts everything and opens an issue. */
async function begin(options: StartOptions) {
  const github = await start(options);
  const { standIn, clock } = github;
  await standIn.openIssue({ user: "bob", repo, title: "Broken" });
  const beganMs = clock.ms;
  clock.ms += 5_000;
  const say = (body: string) => {
    clock.ms += 1_000;
    return standIn.comment({ user: "alice", repo, issue: 1, body });
  };
  const label = () => {
    clock.ms += 1_000;
    return standIn.label({ user: "alice", repo, issue: 1, label: "agent" });
  };
  /** By default everything since the issue was opened. */
  const missed = (sinceMs = beganMs) =>
    github.platform.missed({ since: new Date(sinceMs).toISOString(), places: [], scopes });
  const attempts = () => github.calls().filter((call) => call.endsWith("/attempts")).length;
  const reads = () => github.calls().filter((call) => /GET .*\/deliveries\/\d+$/.test(call)).length;
  /** The statuses of the attempts to deliver the GUID. */
  const statuses = (guid: string | undefined) =>
    standIn.deliveries.filter((one) => one.guid === guid).map(({ status }) => status);
  return { ...github, say, label, missed, attempts, reads, statuses };
}

describe.each(ways)("%s", (_, options) => {
  it("returns failed events, oldest first and with their deliveries' ids, and has them redelivered", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    const { delivery } = await github.label();
    const { id } = await github.say("And the docs");
    github.state.down = false;
    expect(await github.missed()).toMatchObject([
      { kind: "label", id: `github:delivery:${delivery?.guid}`, label: "agent" },
      { kind: "reply", id: `github:comment:${id}`, text: "And the docs" },
    ]);
    await github.standIn.idle();
    expect(github.statuses(delivery?.guid)).toEqual([503, 200]);
    expect(new Set(github.events.map((event) => event.id))).toEqual(
      new Set([`github:delivery:${delivery?.guid}`, `github:comment:${id}`]),
    );
  });

  it("is requested once for each delivery, and not after it has arrived", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    await github.label();
    await github.missed();
    await github.standIn.idle();
    // It failed again.
    expect(await github.missed()).toHaveLength(1);
    expect(github.attempts()).toBe(1);
    github.state.down = false;
    await github.standIn.redeliver(github.standIn.deliveries.at(-1)?.guid ?? "");
    const read = github.reads();
    expect(await github.missed()).toEqual([]);
    expect([github.attempts(), github.reads()]).toEqual([1, read]);
  });

  it("is not asked if only a redelivery failed since", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    await github.label();
    await github.missed();
    await github.standIn.idle();
    const [first] = github.standIn.deliveries.filter(({ action }) => action === "labeled");
    github.clock.ms += 60_000;
    await github.standIn.redeliver(first?.guid ?? "");
    expect(await github.missed(github.clock.ms - 1_000)).toEqual([]);
  });

  it("is not asked for events that are not the bot's or have arrived", async () => {
    const github = await begin(options);
    await using _end = github;
    const { id } = await github.say("hello");
    github.hook.url = nowhere;
    await github.standIn.editComment({ user: "alice", repo, id, body: "hallo" });
    await github.standIn.closeIssue({ user: "bob", repo, issue: 1 });
    expect(await github.missed()).toEqual([]);
    expect([github.attempts(), github.reads()]).toEqual([0, 0]);
  });

  it("looks back to the start of the second asked for, and no further", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    await github.label();
    github.clock.ms += 10_000;
    const { id } = await github.say("later");
    github.clock.ms += 10_000;
    const sinceMs = Math.floor(github.clock.ms / 1000) * 1000 - 10_000 + 999;
    expect(await github.missed(sinceMs)).toMatchObject([{ id: `github:comment:${id}` }]);
  });

  it("returns a comment that arrived while its label was missing", async () => {
    const github = await begin(options);
    await using _end = github;
    const early = await github.say("before");
    github.state.down = true;
    await github.label();
    github.state.down = false;
    const late = await github.say("after");
    expect(await github.missed()).toMatchObject([{ kind: "label" }, { id: `github:comment:${late.id}` }]);
    expect(late.id).not.toBe(early.id);
  });

  it("reads all pages of deliveries, in order", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    for (let index = 0; index < 130; index += 1) await github.say(`${index}`);
    github.state.down = false;
    const events = await github.missed();
    expect(events.map((event) => event.kind === "reply" && event.text)).toEqual(
      Array.from({ length: 130 }, (_unused, index) => String(index)),
    );
    await github.standIn.idle();
    expect(github.attempts()).toBe(130);
  });

  it("reads back what was in a delivery that GitHub has just deleted", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    await github.label();
    await github.say("still there");
    github.standIn.fail({ method: "GET", path: /\/deliveries\/\d+$/, with: { status: 404 } });
    expect(await github.missed()).toMatchObject([
      { kind: "label", recovered: true },
      { text: "still there" },
    ]);
  });

  it("rejects without requests during a rate limit, and returns everything afterwards", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    await github.label();
    const limited = { status: 403, headers: { "retry-after": "120" } };
    github.standIn.fail({ method: "GET", path: /\/deliveries\/\d+$/, with: limited });
    await expect(github.missed()).rejects.toThrow("limits");
    const asked = github.calls().length;
    await expect(github.missed()).rejects.toThrow("limits");
    // Somebody sets this machine's clock, which neither ends the limit nor lengthens it.
    github.clock.stepMs = 600_000;
    await expect(github.missed()).rejects.toThrow("limits");
    expect(github.calls()).toHaveLength(asked);
    github.clock.stepMs = -600_000;
    github.clock.ms += 120_000;
    // The engine's searches overlap by more than the clock was set back.
    expect(await github.missed(github.clock.ms - 900_000)).toMatchObject([{ kind: "label" }]);
  });

  it("returns failed events even if they may not be redelivered", async () => {
    const github = await begin(options);
    await using _end = github;
    github.state.down = true;
    await github.label();
    github.standIn.fail({ method: "POST", path: /\/attempts$/, with: { status: 403 } });
    expect(await github.missed()).toMatchObject([{ kind: "label" }]);
    await github.label();
    await github.say("more");
    github.standIn.fail({ method: "POST", path: /\/attempts$/, with: { status: 500 } });
    expect(await github.missed()).toHaveLength(2);
    expect(github.lines.filter(({ message }) => message.includes("could be repeated"))).toHaveLength(1);
  });
});

describe("a comment that could not be understood while GitHub was down", () => {
  it("is returned as a mention once GitHub returns the bot's identity", async () => {
    const github = await begin({ auth: tokenAuth, hooksAllowed: true });
    await using _end = github;
    github.standIn.fail({ path: "/user", times: 2, with: { status: 502 } });
    const { id, delivery } = await github.say("@agent-runs-bot fix it");
    expect(delivery.status).toBe(503);
    await expect(github.missed()).rejects.toThrow("internal error");
    expect(await github.missed()).toMatchObject([
      { id: `github:comment:${id}`, text: "fix it", mention: true },
    ]);
    await github.standIn.idle();
    expect(github.events).toMatchObject([{ id: `github:comment:${id}`, mention: true }]);
  });

  it("is read back where webhooks may not be seen", async () => {
    const github = await begin({ auth: tokenAuth });
    await using _end = github;
    github.standIn.fail({ path: "/user", with: { status: 502 } });
    const { id } = await github.say("@agent-runs-bot fix it");
    expect(await github.missed()).toMatchObject([{ id: `github:comment:${id}`, mention: true }]);
  });
});

it("asks for a thousand redeliveries at once, and for the others in the next look", async () => {
  const github = await begin({ auth: appAuth });
  await using _end = github;
  const { url } = github.hook;
  github.hook.url = nowhere;
  for (let index = 0; index < 1_003; index += 1) {
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: `${index}` });
  }
  github.hook.url = url;
  await expect(github.missed()).rejects.toThrow("the others follow");
  expect(github.attempts()).toBe(1_000);
  await github.standIn.idle();
  const texts = (await github.missed()).map((event) => event.kind === "reply" && event.text);
  expect(texts.slice(-3)).toEqual(["1000", "1001", "1002"]);
  await github.standIn.idle();
  expect(github.attempts()).toBe(1_003);
  expect(new Set(github.events.map(({ id }) => id)).size).toBe(1_003);
});

describe("a repository's webhook", () => {
  it("with another address does not count if the bot's own is known", async () => {
    const github = await begin({
      auth: tokenAuth,
      hooksAllowed: true,
      publicUrl: "https://bot.example.com",
    });
    await using _end = github;
    github.state.down = true;
    await github.label();
    // Read back instead, so it has another id.
    expect(await github.missed()).toMatchObject([{ recovered: true }]);
    github.hook.url = "https://bot.example.com/github/webhooks";
    expect((await github.missed())[0]?.id).toContain("github:delivery:");
    expect(github.attempts()).toBe(1);
  });
});
