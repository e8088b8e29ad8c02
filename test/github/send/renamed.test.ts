/** Repositories are renamed and transferred, and issues transferred: effects still reach the conversation. */
import { describe, expect, it } from "vitest";
import { defaultSnapshot } from "#sandbox/github/snapshot.ts";
import { again, card, effect, first, permission, reply, view } from "#test/support/github/effects.ts";
import { appAuth, repo, start, tokenAuth } from "#test/support/github/start.ts";

const byId = "github:100#1";
const byName = "github:octo/app#1";

function twoRepositories(lastNumber = 6) {
  const initial = defaultSnapshot();
  const [app] = initial.repos;
  if (app === undefined) throw new Error("there is no repository");
  initial.repos.push({ ...structuredClone(app), id: 200, name: "site", lastNumber });
  return initial;
}

const ways = [
  { name: "a token", auth: tokenAuth },
  { name: "an App", auth: appAuth },
];

describe.each(ways)("with $name", ({ auth }) => {
  async function begin(lastNumber?: number) {
    const github = await start({ auth, initial: twoRepositories(lastNumber) });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    const perform = (what: ReturnType<typeof reply>, at: string) =>
      github.platform.perform({ ...what, at, to: at }, first);
    return { ...github, perform };
  }

  it("a place is its repository's id, and the name is learnt from GitHub", async () => {
    const github = await begin();
    await using _end = github;
    expect(await github.perform(reply(), byId)).toMatchObject({ ok: true });
    expect(await github.perform(reply("e2"), byId)).toMatchObject({ ok: true });
    expect(github.comments()).toHaveLength(2);
    expect(github.calls().filter((call) => call === "GET /repositories/100")).toHaveLength(1);
  });

  it("an event teaches the name, so that nothing is asked", async () => {
    const github = await begin();
    await using _end = github;
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: "hi" });
    expect(github.events.at(-1)).toMatchObject({
      place: byId,
      scope: "github:octo/app",
      formerPlaces: [byName],
    });
    await github.perform(reply(), byId);
    expect(github.calls().filter((call) => call.includes("/repositories/"))).toEqual([]);
  });

  it.each([
    { what: "renamed", to: "octo/web" },
    { what: "transferred to another owner", to: "alice/web" },
  ])("a repository that is $what keeps its places, by id and by name", async ({ to }) => {
    const github = await begin();
    await using _end = github;
    await github.perform(reply("before"), byId);
    github.standIn.renameRepo(repo, to);
    for (const [index, at] of [byId, byName].entries()) {
      expect(await github.perform(reply(`e${index}`), at)).toMatchObject({ ok: true });
      expect(await github.perform({ ...permission("alice"), id: `p${index}` }, at)).toMatchObject({
        permission: "write",
      });
    }
    expect(github.comments().map((one) => one.repo)).toEqual([to, to, to]);
  });

  it.each([
    { when: "minutes later", isHeard: false },
    { when: "as soon as its webhook comes", isHeard: true },
  ])("a repository with another's former name gets none of its comments $when", async ({ isHeard }) => {
    const github = await begin(0);
    await using _end = github;
    await github.standIn.comment({ user: "alice", repo, issue: 1, body: "hi" });
    github.standIn.renameRepo(repo, "octo/web");
    github.standIn.renameRepo("octo/site", repo);
    await github.standIn.openIssue({ user: "bob", repo, title: "Other" });
    if (isHeard) await github.standIn.comment({ user: "bob", repo, issue: 1, body: "hi" });
    else github.clock.ms += 5 * 60_000;
    expect(await github.perform(reply(), byId)).toMatchObject({ ok: true });
    expect(github.comments().at(-1)).toMatchObject({ repo: "octo/web", issue: 1 });
  });

  it("a repeated delivery with a former name does not bring it back", async () => {
    const github = await begin(0);
    await using _end = github;
    const { delivery } = await github.standIn.comment({ user: "alice", repo, issue: 1, body: "hi" });
    github.clock.ms += 5 * 60_000;
    github.standIn.renameRepo(repo, "octo/web");
    github.standIn.renameRepo("octo/site", repo);
    await github.standIn.openIssue({ user: "bob", repo, title: "Other" });
    if (delivery === undefined) throw new Error("there was no delivery");
    await github.standIn.redeliver(delivery.guid);
    expect(await github.perform(reply(), byId)).toMatchObject({ ok: true });
    expect(github.comments().at(-1)).toMatchObject({ repo: "octo/web", issue: 1 });
  });

  it.each([byId, byName])("an issue that was transferred unnoticed is found from %s", async (at) => {
    const github = await begin();
    await using _end = github;
    const posted = await github.perform(card("label-1/card/2", 1, "Queued"), at);
    if (!posted.ok || posted.kind !== "card") throw new Error("the card was not posted");
    const { number } = await github.standIn.transferIssue({ user: "bob", repo, issue: 1, to: "octo/site" });
    const edit = { ...card("label-1/card/3", 2, "Running", posted.message), dispatch: "label-1" };
    const edited = await github.perform(edit as ReturnType<typeof card>, at);
    expect(edited).toMatchObject({ ok: true, kind: "card", place: at });
    expect(await github.perform(reply("e2"), at)).toMatchObject({ ok: true });
    expect(await github.perform(effect({ kind: "label", label: "agent:done", revision: 1 }), at)).toEqual({
      ok: true,
      kind: "label",
      revision: 1,
    });
    expect(github.comments()).toMatchObject([
      { repo: "octo/site", issue: number, body: expect.stringContaining("Running") },
      { repo: "octo/site", issue: number, body: expect.stringContaining("All done") },
    ]);
    const issue = github.standIn.snapshot().issues.find((one) => one.number === number);
    expect(issue?.labels).toEqual(["agent:done"]);
  });

  it("an uncertain comment is found where its issue is now", async () => {
    const github = await begin();
    await using _end = github;
    const one = { ...reply(), at: byId, to: byId };
    github.standIn.fail({ method: "POST", path: /comments$/, with: { reset: "after" } });
    await github.platform.perform(one, first);
    await github.standIn.transferIssue({ user: "bob", repo, issue: 1, to: "octo/site" });
    expect(await github.platform.perform(one, again)).toMatchObject({ ok: true });
    expect(github.comments()).toHaveLength(1);
  });
});

it("a transfer is an event that names the issue's places", async () => {
  await using github = await start({ initial: twoRepositories() });
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  await github.standIn.transferIssue({ user: "bob", repo, issue: 1, to: "octo/site" });
  expect(github.events.at(-1)).toMatchObject({
    kind: "moved",
    scope: "github:octo/site",
    place: "github:200#7",
    formerPlaces: [byId, byName],
  });
});

it("an issue that does not exist, or was deleted, is refused", async () => {
  await using github = await start();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  for (const at of ["github:100#99", "github:999#1", "github:octo/none#1"]) {
    const outcome = await github.platform.perform(effect({ kind: "reply", view }, { at }), first);
    expect(outcome).toMatchObject({ ok: false, fault: { certainty: "refused", retryable: false } });
  }
});
