import { describe, expect, it } from "vitest";
import type { Outcome } from "#core/outcome.ts";
import { createListener } from "#github/receive/receive.ts";
import { appAuth, repo, slug, start, webhookSecret } from "#test/support/github/start.ts";
import { silentLog } from "#test/support/logs.ts";

const commentPayload = (body: string) => ({
  action: "created",
  issue: {
    number: 1,
    title: "T",
    body: null,
    html_url: "https://x",
    user: null,
    updated_at: "2026-03-01T12:00:00Z",
  },
  comment: { id: 7, body, created_at: "2026-03-01T12:00:00Z", user: { login: "alice" } },
  repository: { full_name: repo },
  sender: { login: "alice" },
});

describe("a labelled issue", () => {
  it("becomes a label event with the issue as its subject", async () => {
    await using github = await start();
    const issue = await github.standIn.openIssue({ user: "bob", repo, title: "Broken", body: "It broke." });
    const { delivery } = await github.standIn.label({
      user: "alice",
      repo,
      issue: issue.number,
      label: "agent",
    });
    expect(delivery?.status).toBe(200);
    expect(github.events).toEqual([
      {
        kind: "label",
        id: `github:delivery:${delivery?.guid}`,
        at: "2026-03-01T12:00:00Z",
        by: { platform: "github", id: "alice", name: "alice", bot: false, permission: "unknown" },
        scope: "github:octo/app",
        place: "github:100#1",
        formerPlaces: ["github:octo/app#1"],
        label: "agent",
        subject: {
          title: "Broken",
          body: "It broke.",
          url: "https://github.com/octo/app/issues/1",
          author: "bob",
        },
      },
    ]);
  });

  it("has the same id in a redelivery", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    const { delivery } = await github.standIn.label({ user: "alice", repo, issue: 1, label: "agent" });
    const again = await github.standIn.redeliver(delivery?.guid ?? "");
    expect(again).toMatchObject({ status: 200, redelivery: true });
    expect(github.events).toHaveLength(2);
    expect(github.events[1]).toEqual(github.events[0]);
  });

  it("is by a bot if the bot itself set a state label", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.label({ user: "agent-runs-bot", repo, issue: 1, label: "agent:running" });
    await github.standIn.label({ user: "agent-runs-bot", repo, issue: 1, label: "agent" });
    expect(github.events.map((event) => event.by.bot)).toEqual([true, false]);
  });
});

describe("a new comment", () => {
  it("with an /agent line becomes a command", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken", body: "It broke." });
    const body = "Thanks!\n/agent run --model x fix it\nsoon";
    const { id, delivery } = await github.standIn.comment({ user: "alice", repo, issue: 1, body });
    expect(delivery.status).toBe(200);
    expect(github.events).toEqual([
      {
        kind: "command",
        id: `github:comment:${id}`,
        at: "2026-03-01T12:00:00Z",
        by: { platform: "github", id: "alice", name: "alice", bot: false, permission: "unknown" },
        scope: "github:octo/app",
        place: "github:100#1",
        formerPlaces: ["github:octo/app#1"],
        text: "run --model x fix it\nsoon",
        message: String(id),
        subject: {
          title: "Broken",
          body: "It broke.",
          url: "https://github.com/octo/app/issues/1",
          author: "bob",
        },
      },
    ]);
  });

  it("becomes a reply without the mention of the bot", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: "@agent-runs-bot please fix" });
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: "And @bob looks." });
    expect(github.events).toMatchObject([
      { kind: "reply", text: "please fix", mention: true, first: false, underOurs: false },
      { kind: "reply", text: "And @bob looks.", mention: false },
    ]);
  });

  it("mentions an App by its slug", async () => {
    await using github = await start({ auth: appAuth });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: `@${slug} please fix` });
    expect(github.events).toMatchObject([{ kind: "reply", text: "please fix", mention: true }]);
  });

  it("on a pull request works the same", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "A change", pullRequest: true });
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: "/agent status" });
    expect(github.events).toMatchObject([
      { kind: "command", place: "github:100#1", subject: { url: "https://github.com/octo/app/pull/1" } },
    ]);
  });

  it("stays in its thread if the case of the repository's name changes", async () => {
    await using github = await start();
    const payload = { ...commentPayload("hi"), repository: { full_name: "Octo/App" } };
    await github.standIn.send({ payload });
    expect(github.events).toMatchObject([{ scope: "github:octo/app", place: "github:octo/app#1" }]);
  });

  it("by the bot with a person's token is by a bot, one by that person is not", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    const view = { tone: "plain", headline: ["Hello"], details: [], actions: [] } as const;
    const effect = {
      kind: "reply",
      id: "e1",
      to: "x",
      since: "2026-03-01T12:00:00Z",
      tries: 0,
      view,
    } as const;
    const done: Outcome = await github.platform.perform(
      { ...effect, at: "github:octo/app#1" },
      { uncertain: false, settlesInMs: 0 },
    );
    expect(done.ok).toBe(true);
    await github.standIn.idle();
    const posted = github.comments()[0]?.body ?? "";
    await github.standIn.comment({ user: "agent-runs-bot", repo, issue: 1, body: "@bob, I am a person." });
    await github.standIn.comment({ user: "mallory", repo, issue: 1, body: posted });
    expect(github.events.map((event) => [event.by.id, event.by.bot])).toEqual([
      ["agent-runs-bot", true],
      ["agent-runs-bot", false],
      ["mallory", false],
    ]);
  });

  it("by any bot is by a bot", async () => {
    await using github = await start();
    const payload = commentPayload("/agent run x");
    const by = (user: object) => ({ ...payload, comment: { ...payload.comment, user } });
    await github.standIn.send({ payload: by({ login: "ci", type: "Bot" }) });
    await github.standIn.send({ payload: by({ login: "ci[bot]" }) });
    expect(github.events.map((event) => event.by.bot)).toEqual([true, true]);
  });
});

describe("an event that does not concern the bot", () => {
  it("is answered and not passed on", async () => {
    await using github = await start();
    const opened = await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    expect(opened.delivery.status).toBe(202);
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: "/agent run x" });
    const { id } = github.comments()[0] ?? { id: 0 };
    const edited = await github.standIn.editComment({ user: "alice", repo, id, body: "/agent run y" });
    expect(edited.delivery.status).toBe(202);
    const closed = await github.standIn.closeIssue({ user: "bob", repo, issue: 1 });
    expect(closed.delivery.status).toBe(202);
    expect((await github.standIn.send({ event: "star", payload: {} })).status).toBe(202);
    expect((await github.standIn.send({ event: "ping", payload: { zen: "Keep it." } })).status).toBe(200);
    expect(github.events).toHaveLength(1);
  });

  it("is answered 200 if the thread ignores it", async () => {
    await using github = await start({ accept: async () => "ignored" });
    expect((await github.standIn.send({ payload: commentPayload("hi") })).status).toBe(200);
  });
});

describe("a delivery that can't be saved", () => {
  it("is answered 503, so that it counts as failed", async () => {
    await using github = await start({ accept: () => Promise.reject(new Error("the disk is full")) });
    expect((await github.standIn.send({ payload: commentPayload("/agent run x") })).status).toBe(503);
  });

  it("is answered 503 when it came too early", async () => {
    await using github = await start({ accept: async () => "again" });
    expect((await github.standIn.send({ payload: commentPayload("/agent run x") })).status).toBe(503);
  });

  it("is not answered before it is saved", async () => {
    const saved = Promise.withResolvers<"saved">();
    let answered = false;
    await using github = await start({ accept: () => saved.promise });
    const answer = github.standIn.send({ payload: commentPayload("/agent run x") }).then((result) => {
      answered = true;
      return result;
    });
    await expect.poll(() => github.events.length).toBe(1);
    expect(answered).toBe(false);
    saved.resolve("saved");
    expect((await answer).status).toBe(200);
  });

  it("is answered 503 until GitHub returns the bot's identity", async () => {
    await using github = await start();
    github.standIn.fail({ path: "/user", with: { status: 500 } });
    const payload = commentPayload("@agent-runs-bot fix it");
    expect((await github.standIn.send({ payload })).status).toBe(503);
    expect((await github.standIn.send({ payload })).status).toBe(200);
    expect((await github.standIn.send({ payload })).status).toBe(200);
    expect(github.calls()).toEqual(["GET /user", "GET /user"]);
    expect(github.events).toMatchObject([{ mention: true }, { mention: true }]);
  });
});

describe("a request that is not GitHub's", () => {
  it("is refused with 401 when its signature is forged, missing or empty", async () => {
    await using github = await start();
    const payload = commentPayload("/agent run x");
    expect((await github.standIn.send({ payload, secret: "guessed" })).status).toBe(401);
    expect((await github.standIn.send({ payload, signature: null })).status).toBe(401);
    expect((await github.standIn.send({ payload, signature: "sha256=" })).status).toBe(401);
    expect((await github.standIn.send({ payload: "", signature: "sha256=00" })).status).toBe(401);
    expect((await github.standIn.send({ payload: "no json", secret: "guessed" })).status).toBe(401);
    expect(github.events).toEqual([]);
    expect(JSON.stringify(github.lines)).not.toContain(webhookSecret);
  });

  it("is accepted with any of several secrets", async () => {
    await using github = await start({ receiverSecret: `a new one, ${webhookSecret}` });
    const payload = commentPayload("hi");
    expect((await github.standIn.send({ payload })).status).toBe(200);
    expect((await github.standIn.send({ payload, secret: "a new one" })).status).toBe(200);
    expect((await github.standIn.send({ payload, secret: "an old one" })).status).toBe(401);
  });

  it("can't be accepted by leaving the secret empty", () => {
    const options = {
      accept: async () => "saved" as const,
      log: silentLog,
      identity: () => Promise.reject(),
      intake: { isOwn: () => false, learn: () => {}, heard: () => {} },
    };
    expect(() => createListener({ ...options, webhookSecret: " , " })).toThrow("GITHUB_WEBHOOK_SECRET");
  });

  it("is refused with a sentence when its content type, its body or its headers are wrong", async () => {
    await using github = await start();
    const form = await github.standIn.send({
      payload: "payload=%7B%7D",
      contentType: "application/x-www-form-urlencoded",
    });
    expect(form).toMatchObject({ status: 415, body: expect.stringContaining("application/json") });
    expect((await github.standIn.send({ payload: "{" })).status).toBe(400);
    expect((await github.standIn.send({ payload: { action: "created" } })).status).toBe(400);
    expect((await github.standIn.send({ payload: commentPayload("hi"), guid: "" })).status).toBe(400);
  });
});
