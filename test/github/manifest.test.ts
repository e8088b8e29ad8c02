import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stateLabels } from "#core/effect.ts";
import type { GitHubAuth } from "#github/client.ts";
import { events } from "#github/understand/event-of.ts";
import { again, alice, card, effect, first, permission, reply, view } from "#test/support/github/effects.ts";
import { appAuth, repo, start, tokenAuth } from "#test/support/github/start.ts";
import { calls, optionalTokenCalls } from "./required-scopes.ts";

const manifest = JSON.parse(
  readFileSync(new URL("../../manifests/github-app.json", import.meta.url), "utf8"),
);

/** Returns the entry of `required-scopes.ts` that fits the request; the request itself if there is none. */
function entryOf(request: string): string {
  const fits = Object.keys({ ...calls, ...optionalTokenCalls }).filter((call) => {
    const pattern = call
      .replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")
      .replaceAll(/\{\w*(?:number|id)\}/g, "\\d+")
      .replaceAll(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^${pattern}$`).test(request);
  });
  return fits.length === 1 ? (fits[0] ?? request) : request;
}

/** Performs every kind of effect in every way and reads missed events; returns the calls that the stand-in saw. */
async function everyCall(auth: GitHubAuth, hooksAllowed = false): Promise<string[]> {
  await using github = await start({ auth, hooksAllowed });
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  const posts = [
    reply("t"),
    reply("t"),
    { ...reply("e0"), at: "github:100#1" },
    { ...reply(), at: "github:100#9" },
  ];
  for (const post of posts) await github.platform.perform(post, first);
  const { id } = await github.standIn.comment({ user: "alice", repo, issue: 1, body: "/agent run x" });
  const message = String(id);
  await github.platform.check();
  const tried = [
    card("c", 1, "Queued"),
    card("c", 2, "Running", message),
    reply(),
    effect({ kind: "tell", person: alice, view }, { id: "e2" }),
    effect({ kind: "react", message, reaction: "taken" }),
    ...stateLabels.map((label) => effect({ kind: "label", label, revision: 1 })),
    effect({ kind: "read", until: "2126-03-01T12:00:00Z", dispatch: "d" }),
    permission("alice"),
    effect({ kind: "twin-posts", of: "t", postedSince: "2026-03-01T12:00:00Z", message: "1", looks: 0 }),
  ];
  for (const attempt of [first, again]) {
    for (const one of tried) expect(await github.platform.perform(one, attempt)).toMatchObject({ ok: true });
  }
  github.state.down = true;
  await github.standIn.comment({ user: "alice", repo, issue: 1, body: "/agent run y" });
  github.state.down = false;
  const since = "2026-03-01T12:00:00Z";
  expect(await github.platform.missed({ since, places: [], scopes: [`github:${repo}`] })).not.toEqual([]);
  return [...new Set(github.calls().map(entryOf))];
}

describe("the GitHub App's manifest", () => {
  it("covers exactly the calls that the bot makes", async () => {
    const made = [...(await everyCall(appAuth)), ...(await everyCall(tokenAuth))];
    // The bot tries whether the token may see webhooks.
    const tried = ["GET /repos/{owner}/{repo}/hooks"];
    expect([...new Set(made)].toSorted()).toEqual([...Object.keys(calls), ...tried].toSorted());
  });

  it("needs nothing that only a token may be granted", async () => {
    const made = await everyCall(tokenAuth, true);
    expect(made).toEqual(expect.arrayContaining(Object.keys(optionalTokenCalls)));
    expect((await everyCall(appAuth, true)).filter((call) => call in optionalTokenCalls)).toEqual([]);
  });

  it("asks for exactly the permissions that the calls need", () => {
    const needed: Record<string, string> = {};
    for (const permissions of Object.values(calls)) {
      for (const [name, access] of Object.entries(permissions)) {
        if (needed[name] !== "write") needed[name] = access;
      }
    }
    expect(manifest.default_permissions).toEqual(needed);
  });

  it("subscribes to exactly the events that are understood", async () => {
    expect(manifest.default_events.toSorted()).toEqual(Object.keys(events).toSorted());
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    await github.standIn.label({ user: "bob", repo, issue: 1, label: "agent" });
    const { id } = await github.standIn.comment({ user: "bob", repo, issue: 1, body: "hi" });
    await github.standIn.editComment({ user: "bob", repo, id, body: "ho" });
    await github.standIn.unlabel({ user: "bob", repo, issue: 1, label: "agent" });
    await github.standIn.deleteComment({ user: "bob", repo, id });
    await github.standIn.closeIssue({ user: "bob", repo, issue: 1 });
    await github.standIn.openIssue({ user: "bob", repo, title: "Draft", pullRequest: true });
    await github.standIn.label({ user: "bob", repo, issue: 2, label: "agent" });
    await github.standIn.transferIssue({ user: "bob", repo, issue: 1, to: repo });
    const understood = github.standIn.deliveries.filter(({ status }) => status === 200);
    const listed = Object.entries(events).flatMap(([event, actions]) =>
      actions.map((action) => `${event}.${action}`),
    );
    expect(understood.map(({ event, action }) => `${event}.${action}`).toSorted()).toEqual(listed.toSorted());
  });

  it("is a private App whose webhook goes to the bot's path", () => {
    expect(manifest).toMatchObject({ public: false, hook_attributes: { active: true } });
    expect(new URL(manifest.hook_attributes.url).pathname).toBe("/github/webhooks");
    expect(manifest.name.length).toBeLessThanOrEqual(34);
  });
});
