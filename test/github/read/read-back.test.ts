import { describe, expect, it } from "vitest";
import { reply as replyEffect } from "#test/support/github/effects.ts";
import { repo, start } from "#test/support/github/start.ts";

const place = "github:100#1";
const began = Date.parse("2026-03-01T12:00:00Z");

/** A bot with a token that may not see webhooks, and an issue by bob. */
async function begin() {
  const github = await start();
  const { standIn, clock } = github;
  await standIn.openIssue({ user: "bob", repo, title: "Broken", body: "It broke." });
  clock.ms += 60_000;
  const say = (body: string, user = "alice") => standIn.comment({ user, repo, issue: 1, body });
  const label = (name = "agent", user = "alice") => standIn.label({ user, repo, issue: 1, label: name });
  const missed = (sinceMs = began + 30_000, scopes = [`github:${repo}`]) =>
    github.platform.missed({ since: new Date(sinceMs).toISOString(), places: [], scopes });
  return { ...github, say, label, missed };
}
/** Removes the fields that differ between a delivery and reading back. */
const plain = (events: readonly object[]) =>
  events.map((event) => ({ ...event, id: undefined, recovered: undefined }));

describe("reading back", () => {
  it("returns the same comments and labels as deliveries, except for a label's id", async () => {
    await using github = await begin();
    await github.say("Any idea?");
    github.clock.ms += 1_000;
    await github.label();
    github.clock.ms += 1_000;
    await github.say("/agent run --model x fix it\nsoon", "bob");
    github.clock.ms += 1_000;
    await github.say("@agent-runs-bot and now?");
    const events = await github.missed();
    expect(plain(events)).toEqual(plain(github.events));
    const [first, second] = github.events;
    expect(events[0]).toEqual(first);
    expect(events[1]).toMatchObject({ kind: "label", at: second?.at, recovered: true });
    expect(events[1]?.id).toMatch(/^github:labeled:\d+$/);
    expect(await github.missed()).toEqual(events);
  });

  it("distinguishes the bot's comments and labels from those of the person whose token it uses", async () => {
    await using github = await begin();
    await github.platform.perform(replyEffect(), { uncertain: false, settlesInMs: 0 });
    await github.label("agent:running", "agent-runs-bot");
    await github.label("agent", "agent-runs-bot");
    await github.say("I am a person.", "agent-runs-bot");
    const events = await github.missed();
    expect(events.map((event) => [event.kind, event.by.bot]).toSorted()).toEqual([
      ["label", false],
      ["label", true],
      ["reply", false],
      ["reply", true],
    ]);
  });

  it("includes the whole second of the start, and nothing older that was only edited since", async () => {
    await using github = await begin();
    github.state.down = true;
    const old = await github.say("old");
    github.clock.ms += 60_400;
    const { id } = await github.say("just missed");
    github.clock.ms += 1_000;
    await github.standIn.editComment({ user: "alice", repo, id: old.id, body: "/agent run it" });
    await github.standIn.unlabel({ user: "alice", repo, issue: 1, label: "agent" });
    expect(await github.missed(began + 120_900)).toMatchObject([{ id: `github:comment:${id}` }]);
  });

  it("stops at the list of issues if none has changed", async () => {
    await using github = await begin();
    await github.platform.identity();
    expect(await github.missed()).toEqual([]);
    expect(github.calls().slice(1)).toEqual([
      "GET /repos/octo/app",
      "GET /repos/octo/app/hooks",
      "GET /repos/octo/app/issues",
    ]);
  });

  it("is hourly where nothing happened for days, and misses nothing there", async () => {
    await using github = await begin();
    const scopes = [`github:${repo}`];
    let kept: string | null = null;
    const look = (lively: readonly string[] = []) =>
      github.platform.missed({
        since: new Date(github.clock.ms - 15 * 60_000).toISOString(),
        places: [],
        lively,
        scopes,
        kept,
        keep: (text) => {
          kept = text;
        },
      });
    await look();
    const before = github.calls().length;
    github.state.down = true;
    const { id } = await github.say("/agent run it");
    for (const _ of [1, 2]) {
      github.clock.ms += 5 * 60_000;
      expect(await look()).toEqual([]);
    }
    expect(github.calls()).toHaveLength(before);
    github.clock.ms += 51 * 60_000;
    expect(await look()).toMatchObject([{ id: `github:comment:${id}` }]);
    github.clock.ms += 5 * 60_000;
    const another = await github.say("and now?");
    expect(await look([place])).toMatchObject([{ id: `github:comment:${another.id}` }]);
  });

  it("skips edits of comments that were taken in, and returns others in their present form", async () => {
    await using github = await begin();
    const heard = await github.say("nice");
    github.state.down = true;
    const unheard = await github.say("/agent rnu it");
    github.state.down = false;
    github.clock.ms += 5_000;
    await github.standIn.editComment({ user: "alice", repo, id: heard.id, body: "/agent run more" });
    await github.standIn.editComment({ user: "alice", repo, id: unheard.id, body: "/agent run it" });
    expect(await github.missed()).toMatchObject([{ id: `github:comment:${unheard.id}`, text: "run it" }]);
  });

  it("dates a reply in the same second as a request, but before it, earlier", async () => {
    await using github = await begin();
    await github.say("the log says no");
    await github.say("/agent run fix it");
    await github.say("quickly");
    const [before, command, after] = await github.missed();
    expect(Date.parse(before?.at ?? "")).toBe(Date.parse(command?.at ?? "") - 1);
    expect(after?.at).toBe(command?.at);
  });

  it("recognises a labelled pull request", async () => {
    await using github = await begin();
    await github.standIn.openIssue({ user: "bob", repo, title: "Draft", pullRequest: true });
    await github.standIn.label({ user: "alice", repo, issue: 2, label: "agent" });
    expect(await github.missed()).toMatchObject([
      { kind: "label", place: "github:100#2", subject: { title: "Draft", pullRequest: true } },
    ]);
  });

  it("reads all pages of each repository", async () => {
    await using github = await begin();
    for (let index = 0; index < 230; index += 1) await github.say(`${index}`);
    const events = await github.missed();
    expect(events.map((event) => (event.kind === "reply" ? event.text : ""))).toEqual(
      Array.from({ length: 230 }, (_, index) => String(index)),
    );
    expect(events.every((event) => event.place === place)).toBe(true);
  });

  it("skips a deleted repository and an invalid scope", async () => {
    await using github = await begin();
    const { id } = await github.say("hello");
    const events = await github.missed(undefined, ["github:octo/gone", "slack:T1:C1", `github:${repo}`]);
    expect(events).toMatchObject([{ id: `github:comment:${id}` }]);
  });

  it("rejects with a sentence at a rate limit, an error of GitHub's, or refused credentials", async () => {
    await using github = await begin();
    await github.say("hello");
    const issues = { method: "GET", path: "/repos/octo/app/issues" };
    github.standIn.fail({ ...issues, with: { status: 502 } });
    await expect(github.missed()).rejects.toThrow("internal error (HTTP 502)");
    github.standIn.fail({ ...issues, with: { status: 401 } });
    await expect(github.missed()).rejects.toThrow("credentials");
    github.standIn.fail({ ...issues, with: { status: 429, headers: { "retry-after": "30" } } });
    await expect(github.missed()).rejects.toThrow("limits");
    github.clock.ms += 30_000;
    expect(await github.missed()).toHaveLength(1);
  });
});
