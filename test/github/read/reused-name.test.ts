/** A repository is renamed, and a stranger gives another one its former name: nothing of it is read back. */
import { expect, it } from "vitest";
import type { Missed } from "#ports.ts";
import { defaultSnapshot } from "#sandbox/github/snapshot.ts";
import { repo, start } from "#test/support/github/start.ts";

async function begin(initial = defaultSnapshot()) {
  const [app] = initial.repos;
  if (app === undefined) throw new Error("there is no repository");
  if (initial.repos.length === 1) {
    initial.repos.push({ ...structuredClone(app), id: 200, name: "stranger", lastNumber: 0 });
  }
  const github = await start({ initial });
  const beganMs = github.clock.ms;
  let kept: string | null = null;
  let gaps: readonly string[] = [];
  return {
    ...github,
    kept: () => kept,
    gaps: () => gaps,
    say: (body: string, where = repo, issue = 1) =>
      github.standIn.comment({ user: "alice", repo: where, issue, body }),
    /** Renames octo/app, gives its name to another repository and writes there; no webhook is delivered. */
    async reuse() {
      github.standIn.turnOff(true);
      github.standIn.renameRepo(repo, "octo/web");
      github.standIn.renameRepo("octo/stranger", repo);
      await github.standIn.openIssue({ user: "bob", repo, title: "Evil" });
      await github.standIn.comment({ user: "bob", repo, issue: 1, body: "/agent run evil" });
    },
    missed: (more: Partial<Pick<Missed, "places" | "kept" | "scopes" | "since">> = {}) =>
      github.platform.missed({
        since: new Date(beganMs).toISOString(),
        places: [],
        scopes: [`github:${repo}`],
        kept,
        keep: (text) => {
          kept = text;
        },
        tellGaps: (sentences) => {
          gaps = sentences;
        },
        ...more,
      }),
  };
}

it("after a webhook from the renamed repository, and it is told and logged once", async () => {
  await using github = await begin();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  await github.say("Any idea?");
  await github.reuse();
  expect(await github.missed()).toEqual([]);
  expect(await github.missed()).toEqual([]);
  expect(github.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  expect(github.gaps()).toEqual([
    expect.stringMatching(/can't be read back in octo\/app\. Another repository has this name/),
  ]);
  const places = ["github:200#7"];
  expect(await github.missed({ places })).toMatchObject([{ kind: "command", place: "github:200#1" }]);
  expect(github.gaps()).toEqual([]);
});

it("after it was read back once, also after a restart", async () => {
  await using github = await begin();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  github.standIn.turnOff(true);
  await github.say("Any idea?");
  expect(await github.missed()).toMatchObject([{ place: "github:100#1" }]);
  await github.reuse();
  expect(await github.missed()).toEqual([]);
  await using later = await begin(github.standIn.snapshot());
  expect(await later.missed({ kept: github.kept() })).toEqual([]);
});

it("until a webhook comes from the other repository; the renamed one is read back under its former name", async () => {
  await using github = await begin();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  await github.say("Any idea?");
  github.standIn.turnOff(true);
  github.standIn.renameRepo(repo, "octo/web");
  await github.say("Hello?", "octo/web");
  expect((await github.missed()).map(({ place }) => place)).toEqual(["github:100#1", "github:100#1"]);
  github.standIn.renameRepo("octo/stranger", repo);
  await github.standIn.openIssue({ user: "bob", repo, title: "Mine" });
  github.standIn.turnOff(false);
  await github.say("I set the webhook");
  expect(await github.missed()).toMatchObject([{ place: "github:200#1" }]);
});

it("and once a webhook tells the renamed one's new name, what was missed there meanwhile is read back", async () => {
  await using github = await begin();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  await github.say("Any idea?");
  await github.missed();
  await github.reuse();
  github.clock.ms += 60 * 60_000;
  await github.say("/agent run fix it", "octo/web");
  const missedAt = github.clock.ms;
  for (let searches = 0; searches < 2; searches += 1) {
    await github.missed();
    expect(github.gaps()).toHaveLength(1);
    github.clock.ms += 60 * 60_000;
  }
  github.standIn.turnOff(false);
  await github.say("Hello?", "octo/web");
  const scopes = [`github:${repo}`, "github:octo/web"];
  const since = new Date(github.clock.ms).toISOString();
  const missed = await github.missed({ scopes, since, places: ["github:100#1"] });
  expect(missed).toContainEqual(expect.objectContaining({ kind: "command", place: "github:100#1" }));
  expect(Date.parse(missed[0]?.at ?? "")).toBeLessThanOrEqual(missedAt);
  expect(github.gaps()).toEqual([]);
});
