/** One repository can't be read: the others are, and it is read from the same time on later, also after a restart. */
import { expect, it } from "vitest";
import { defaultSnapshot } from "#sandbox/github/snapshot.ts";
import { appAuth, repo, start, tokenAuth } from "#test/support/github/start.ts";

const other = "octo/site";
const scopes = [`github:${repo}`, `github:${other}`];

it.each([
  { what: "has errors", trouble: { status: 502 } },
  { what: "cuts connections", trouble: { reset: "before" } as const },
  { what: "refuses the credentials", trouble: { status: 401 } },
])("a repository that $what does not stop the others", async ({ trouble }) => {
  const initial = defaultSnapshot();
  const [app] = initial.repos;
  if (app === undefined) throw new Error("there is no repository");
  initial.repos.push({ ...structuredClone(app), id: 200, name: "site", lastNumber: 0 });
  await using github = await start({ initial });
  const { standIn, clock, platform } = github;
  const since = new Date(clock.ms).toISOString();
  standIn.turnOff(true);
  for (const where of [repo, other]) {
    await standIn.openIssue({ user: "bob", repo: where, title: "Broken" });
    await standIn.comment({ user: "alice", repo: where, issue: 1, body: "Hello?" });
  }
  // Searches overlap by a quarter of an hour.
  clock.ms += 20 * 60_000;
  let kept: string | null = null;
  const keep = (text: string) => {
    kept = text;
  };
  const fail = (path: RegExp) => standIn.fail({ path, times: 20, with: trouble });
  fail(/octo\/app/);
  for (let look = 0; look < 2; look += 1) {
    const events = await platform.missed({ since, places: [], scopes, kept, keep });
    expect(events.map(({ place }) => place)).toEqual(["github:200#1"]);
  }
  expect(github.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  clock.ms += 3_600_000;
  await platform.missed({ since: new Date(clock.ms).toISOString(), places: [], scopes, kept, keep });

  await using later = await start({ initial: standIn.snapshot() });
  later.clock.ms = clock.ms + 3_600_000;
  const recent = new Date(later.clock.ms).toISOString();
  const events = await later.platform.missed({ since: recent, places: [], scopes, kept, keep });
  expect(events.map(({ place }) => place)).toEqual(["github:100#1"]);

  fail(/octo\/site/);
  await expect(platform.missed({ since, places: [], scopes, kept, keep })).rejects.toThrow();
});

it.each([
  { what: "of one installation of an App", auth: appAuth, others: ["github:300#1"] },
  { what: "of a token", auth: tokenAuth, others: [] },
])("a rate limit $what stops what it is for, and nothing is lost", async ({ auth, others }) => {
  const initial = defaultSnapshot();
  const [app] = initial.repos;
  if (app === undefined) throw new Error("there is no repository");
  const where = [repo, other, "alice/shop"];
  initial.repos.push({ ...structuredClone(app), id: 200, name: "site", lastNumber: 0 });
  initial.repos.push({ ...structuredClone(app), id: 300, owner: "alice", name: "shop", lastNumber: 0 });
  await using github = await start({ initial, auth });
  const { standIn, clock, platform } = github;
  const since = new Date(clock.ms).toISOString();
  standIn.turnOff(true);
  for (const each of where) {
    await standIn.openIssue({ user: "bob", repo: each, title: "Broken" });
    await standIn.comment({ user: "alice", repo: each, issue: 1, body: "Hello?" });
  }
  let kept: string | null = null;
  const keep = (text: string) => {
    kept = text;
  };
  const look = async () => {
    const events = await platform.missed({
      since: new Date(clock.ms).toISOString(),
      places: [],
      scopes: where.map((each) => `github:${each}`),
      kept,
      keep,
    });
    return events.map(({ place }) => place);
  };
  kept = JSON.stringify({ ids: {}, unread: {}, searchedMs: Date.parse(since) });
  const limit = { status: 403, headers: { "retry-after": "120" } };
  standIn.fail({ method: "GET", path: /octo\/site\/issues$/, with: limit });
  expect(await look()).toEqual(["github:100#1", ...others]);
  expect(github.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  const before = github.calls().length;
  clock.ms += 60_000;
  if (auth === tokenAuth) {
    await expect(look()).rejects.toThrow("limits");
    expect(github.calls()).toHaveLength(before);
  } else expect(await look()).not.toContain("github:200#1");
  const later = github.calls().slice(before);
  expect(later.filter((call) => call.includes("octo/"))).toEqual([]);
  clock.ms += 2 * 60_000;
  expect(await look()).toContain("github:200#1");
});
