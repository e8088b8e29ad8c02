import { describe, expect, it } from "vitest";
import { stateLabels } from "#core/effect.ts";
import { hasMarker, markerOf } from "#github/understand/marker.ts";
import { defaultSnapshot } from "#sandbox/github/snapshot.ts";
import {
  again,
  alice,
  card,
  effect,
  first,
  permission,
  place,
  reply,
  view,
} from "#test/support/github/effects.ts";
import { appAuth, repo, slug, start, tokenAuth } from "#test/support/github/start.ts";

const logins = [
  { name: "a token", auth: tokenAuth, login: "agent-runs-bot" },
  { name: "an App", auth: appAuth, login: `${slug}[bot]` },
];

describe.each(logins)("with $name", ({ auth, login }) => {
  const begin = async () => {
    const github = await start({ auth });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    return github;
  };

  it("a reply is a comment with the effect's hidden marker as its first line", async () => {
    await using github = await begin();
    const done = await github.platform.perform(reply(), first);
    const [comment] = github.comments();
    expect(comment).toMatchObject({ user: login, issue: 1, body: "<!-- agent-runs-bot e1 -->\n✅ All done" });
    expect(done).toEqual({ ok: true, kind: "reply", message: String(comment?.id) });
  });

  it("a card is posted once and edited in place", async () => {
    await using github = await begin();
    const posted = await github.platform.perform(card("c", 1, "Queued"), first);
    const id = String(github.comments()[0]?.id);
    expect(posted).toEqual({ ok: true, kind: "card", revision: 1, message: id, place });
    const edited = await github.platform.perform(card("c", 2, "Running", id), first);
    expect(edited).toEqual({ ok: true, kind: "card", revision: 2, message: id, place });
    expect(github.comments()).toMatchObject([{ body: "<!-- agent-runs-bot c -->\n✅ Running" }]);
  });

  it("a comment whose response was lost is found and not posted again", async () => {
    await using github = await begin();
    github.standIn.fail({ method: "POST", path: /comments$/, with: { reset: "after" } });
    const one = { ...reply("e1"), since: new Date(github.clock.ms).toISOString() };
    const lost = await github.platform.perform(one, first);
    expect(lost).toMatchObject({ ok: false, fault: { certainty: "unknown", retryable: true } });
    const found = await github.platform.perform(one, again);
    expect(github.comments()).toHaveLength(1);
    expect(found).toEqual({ ok: true, kind: "reply", message: String(github.comments()[0]?.id) });
  });

  it("a private message mentions its person", async () => {
    await using github = await begin();
    const done = await github.platform.perform(effect({ kind: "tell", person: alice, view }), first);
    expect(done).toMatchObject({ ok: true, kind: "tell" });
    expect(github.comments()[0]?.body).toContain("@alice ✅ All done");
  });

  it("a repeated reaction stays one", async () => {
    await using github = await begin();
    const { id } = await github.standIn.comment({ user: "alice", repo, issue: 1, body: "/agent run x" });
    for (const reaction of ["taken", "taken", "refused"] as const) {
      const done = await github.platform.perform(
        effect({ kind: "react", message: String(id), reaction }),
        again,
      );
      expect(done).toEqual({ ok: true, kind: "react" });
    }
    expect(github.comments()[0]?.reactions.map(({ content }) => content)).toEqual(["eyes", "confused"]);
  });

  it("a state label becomes the only one, and other labels stay", async () => {
    await using github = await begin();
    await github.standIn.label({ user: "alice", repo, issue: 1, label: "agent" });
    for (const label of [...stateLabels, "agent:done"] as const) {
      const done = await github.platform.perform(effect({ kind: "label", label, revision: 3 }), first);
      expect(done).toEqual({ ok: true, kind: "label", revision: 3 });
      expect(github.standIn.snapshot().issues[0]?.labels).toEqual(["agent", label]);
    }
    const colors = github.standIn.snapshot().repos[0]?.labels.map(({ color }) => color);
    expect(new Set(colors).size).toBe(stateLabels.length + 1);
  });

  it("permissions are the repository's", async () => {
    await using github = await begin();
    const asked = ["octo", "alice", "mallory", "nobody", "ci[bot]"].map((name) =>
      github.platform.perform(permission(name), first),
    );
    const answers = await Promise.all(asked);
    expect(answers.map((done) => (done.ok && done.kind === "permission" ? done.permission : done))).toEqual([
      "write",
      "write",
      "read",
      "none",
      "none",
    ]);
  });

  it("the check passes, or rejects with a sentence", async () => {
    await using github = await begin();
    await github.platform.check();
    github.standIn.fail({ path: /^\/(user|app)$/, with: { status: 503 } });
    await expect(github.platform.check()).rejects.toThrow("GitHub had an internal error (HTTP 503).");
    await github.platform.check();
    expect((await github.platform.identity()).login).toBe(login);
  });
});

it("a label that somebody removed while the bot replaced all, and that came back by that, is no request", async () => {
  await using github = await start();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  await github.standIn.label({ user: "alice", repo, issue: 1, label: "agent" });
  const become = (label: "agent:queued" | "agent:done") =>
    github.platform.perform(effect({ kind: "label", label, revision: 1 }), first);
  await become("agent:queued");
  await github.standIn.idle();
  const before = github.events.length;
  github.state.before = async ({ method }) => {
    if (method === "PUT") await github.standIn.unlabel({ user: "alice", repo, issue: 1, label: "agent" });
  };
  await become("agent:done");
  await github.standIn.idle();
  expect(github.standIn.snapshot().issues[0]?.labels).toContain("agent");
  const labels = () => github.events.slice(before).map((event) => event.kind === "label" && event.label);
  expect(labels()).toEqual(["agent:done"]);
  github.clock.ms += 60_000;
  github.state.before = async () => {};
  await github.standIn.unlabel({ user: "alice", repo, issue: 1, label: "agent" });
  await github.standIn.label({ user: "agent-runs-bot", repo, issue: 1, label: "agent" });
  expect(labels()).toEqual(["agent:done", "agent"]);
});

it("a person's label is put back even if the answer of the replacement that removed it was lost", async () => {
  await using github = await start();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  const become = (label: "agent:queued" | "agent:done") =>
    github.platform.perform(effect({ kind: "label", label, revision: 1 }), first);
  await become("agent:queued");
  github.state.before = async ({ method }) => {
    if (method === "PUT") await github.standIn.label({ user: "alice", repo, issue: 1, label: "bug" });
  };
  github.standIn.fail({ method: "PUT", path: /labels$/, with: { reset: "after" } });
  expect(await become("agent:done")).toMatchObject({ ok: false });
  github.state.before = async () => {};
  expect(github.standIn.snapshot().issues[0]?.labels).toEqual(["agent:done"]);
  expect(await become("agent:done")).toMatchObject({ ok: true });
  expect(github.standIn.snapshot().issues[0]?.labels.toSorted()).toEqual(["agent:done", "bug"]);
});

describe("an uncertain comment", () => {
  it("is posted if only somebody else wrote its marker", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.comment({ user: "mallory", repo, issue: 1, body: markerOf("e1") });
    await github.standIn.comment({
      user: "agent-runs-bot",
      repo,
      issue: 1,
      body: `a person quotes\n${markerOf("e1")}`,
    });
    await github.platform.perform(reply("e11"), first);
    await github.platform.perform(reply("e1"), again);
    expect(github.comments()).toHaveLength(4);
  });

  it("is found on the last of many pages, and without reading what is older than the effect", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    const say = () => github.standIn.comment({ user: "bob", repo, issue: 1, body: "hm" });
    for (let i = 0; i < 120; i += 1) await say();
    github.clock.ms += 3_600_000;
    for (let i = 0; i < 105; i += 1) await say();
    const since = new Date(github.clock.ms).toISOString();
    await github.platform.perform({ ...reply("e1"), since }, first);
    const before = github.calls().length;
    const found = await github.platform.perform({ ...reply("e1"), since }, again);
    expect(found).toEqual({ ok: true, kind: "reply", message: String(github.comments().at(-1)?.id) });
    expect(github.comments()).toHaveLength(226);
    expect(
      github
        .calls()
        .slice(before)
        .filter((call) => call.endsWith("/comments")),
    ).toHaveLength(2);
  });

  it("is found even if GitHub's clock is behind", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.platform.perform(reply("e1"), first);
    const since = new Date(github.clock.ms + 60_000).toISOString();
    await github.platform.perform({ ...reply("e1"), since }, again);
    expect(github.comments()).toHaveLength(1);
  });

  it("of a card is updated when it is found", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.platform.perform(card("c", 1, "Queued"), first);
    const done = await github.platform.perform(card("c", 2, "Running"), again);
    expect(done).toMatchObject({ ok: true, revision: 2 });
    expect(github.comments()).toMatchObject([{ body: expect.stringContaining("Running") }]);
  });

  it("has a marker that no id can break out of", () => {
    for (const id of ["-->", "--", "a\nb", "<!-- x -->", "card:d/1 é"]) {
      const marker = markerOf(id);
      expect(marker.slice("<!--".length, -"-->".length)).not.toMatch(/--|[<>\n]/);
      expect(hasMarker(`${marker}\ntext`)).toBe(true);
    }
    expect(markerOf("a--b")).not.toBe(markerOf("a-b"));
  });
});

describe("a permission", () => {
  it("is requested once, and again when the answer is old", async () => {
    await using github = await start({ permissionTtlMs: 60_000 });
    await github.platform.perform(permission("alice"), first);
    github.clock.ms += 59_000;
    await github.platform.perform(permission("Alice"), first);
    expect(github.calls()).toHaveLength(1);
    github.clock.ms += 1_000;
    await github.platform.perform(permission("alice"), first);
    expect(github.calls()).toHaveLength(2);
  });

  it("is requested again after a failure, which is not remembered", async () => {
    await using github = await start();
    github.standIn.fail({ path: /permission$/, with: { status: 500 } });
    const failed = await github.platform.perform(permission("alice"), first);
    expect(failed).toMatchObject({ ok: false, fault: { certainty: "unknown", retryable: true } });
    const done = await github.platform.perform(permission("alice"), first);
    expect(done).toEqual({ ok: true, kind: "permission", permission: "write" });
  });
});

describe("a state label", () => {
  it("leaves the labels that people add while it is set", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.label({ user: "alice", repo, issue: 1, label: "agent:running" });
    github.state.before = async ({ method }) => {
      if (method !== "PUT") return;
      await github.standIn.label({ user: "alice", repo, issue: 1, label: "urgent" });
    };
    const done = effect({ kind: "label", label: "agent:done", revision: 1 });
    expect(await github.platform.perform(done, first)).toMatchObject({ ok: true });
    expect(github.standIn.snapshot().issues[0]?.labels).toEqual(["agent:done", "urgent"]);
  });

  it("is made once in a repository, and never if people have made it", async () => {
    await using github = await start();
    for (const title of ["One", "Two"]) await github.standIn.openIssue({ user: "bob", repo, title });
    for (const at of ["github:octo/app#1", "github:octo/app#2"]) {
      const label = effect({ kind: "label", label: "agent:done", revision: 1 }, { at });
      await github.platform.perform(label, first);
    }
    const calls = github.calls().filter((call) => call.includes("/repos/octo/app/labels"));
    expect(calls).toEqual(["GET /repos/octo/app/labels/agent%3Adone", "POST /repos/octo/app/labels"]);
  });

  it("may have been removed by somebody meanwhile", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.label({ user: "alice", repo, issue: 1, label: "agent:queued" });
    github.state.before = async ({ method }) => {
      if (method !== "PUT") return;
      await github.standIn.unlabel({ user: "alice", repo, issue: 1, label: "agent:queued" });
    };
    const done = await github.platform.perform(
      effect({ kind: "label", label: "agent:done", revision: 1 }),
      first,
    );
    expect(done).toEqual({ ok: true, kind: "label", revision: 1 });
  });

  it("may exist in the repository with another colour", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.openIssue({ user: "bob", repo, title: "Another" });
    await github.standIn.label({ user: "alice", repo, issue: 2, label: "agent:done" });
    const done = await github.platform.perform(
      effect({ kind: "label", label: "agent:done", revision: 1 }),
      first,
    );
    expect(done.ok).toBe(true);
    expect(github.standIn.snapshot().repos[0]?.labels).toMatchObject([
      {},
      { name: "agent:done", color: "ededed" },
    ]);
  });
});

describe("an App", () => {
  it("requests its installation and a token once", async () => {
    await using github = await start({ auth: appAuth });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await Promise.all(["e1", "e2", "e3"].map((id) => github.platform.perform(reply(id), first)));
    const calls = github.calls();
    expect(calls.filter((call) => call.endsWith("/installation"))).toHaveLength(1);
    expect(calls.filter((call) => call.endsWith("/access_tokens"))).toHaveLength(1);
    expect(github.comments()).toHaveLength(3);
  });

  it("shares one token among the repositories of an installation", async () => {
    const initial = defaultSnapshot();
    const [app] = initial.repos;
    if (app === undefined) throw new Error("there is no repository");
    initial.repos.push({ ...structuredClone(app), id: 200, name: "site" });
    await using github = await start({ auth: appAuth, initial });
    await github.standIn.openIssue({ user: "bob", repo: "octo/site", title: "Broken" });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    for (const at of ["github:octo/app#1", "github:octo/site#1"]) {
      expect(await github.platform.perform(effect({ kind: "reply", view }, { at }), first)).toMatchObject({
        ok: true,
      });
    }
    expect(github.calls().filter((call) => call.endsWith("/installation"))).toHaveLength(2);
    expect(github.calls().filter((call) => call.endsWith("/access_tokens"))).toHaveLength(1);
  });

  it("is refused with a sentence where it is not installed", async () => {
    await using github = await start({ auth: appAuth });
    const elsewhere = effect({ kind: "reply", view }, { at: "github:other/thing#1" });
    const done = await github.platform.perform(elsewhere, first);
    expect(done).toMatchObject({ ok: false, fault: { certainty: "refused", retryable: false } });
  });

  it("requests its installation again after a refusal", async () => {
    await using github = await start({ auth: appAuth });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.platform.perform(reply("e1"), first);
    github.standIn.fail({ method: "POST", path: /comments$/, with: { status: 404 } });
    expect((await github.platform.perform(reply("e2"), first)).ok).toBe(false);
    await github.platform.perform(reply("e2"), first);
    expect(github.calls().filter((call) => call.endsWith("/installation"))).toHaveLength(2);
  });
});

describe("an effect that is impossible on GitHub", () => {
  it.each([
    [
      "a card in a repository",
      effect({ kind: "card", dispatch: "d", revision: 1, view }, { at: "github:octo/app" }),
    ],
    ["a card of another platform", card("c", 1, "x", "1700000000.000100")],
    ["a reaction to another platform's message", effect({ kind: "react", message: "x", reaction: "taken" })],
  ])("%s is refused with a sentence", async (_what, impossible) => {
    await using github = await start();
    const done = await github.platform.perform(impossible, first);
    expect(done).toMatchObject({
      ok: false,
      fault: { certainty: "refused", retryable: false, reason: expect.stringContaining("GitHub") },
    });
    expect(github.calls()).toEqual([]);
  });
});
