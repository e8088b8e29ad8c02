/** GitHub's lists lag, its clock is off, and its answers get lost: comments are posted once all the same. */

import { expect, it } from "vitest";
import type { PlatformEffect } from "#core/effect.ts";
import { defaultSnapshot } from "#sandbox/github/snapshot.ts";
import { again, card, effect, first, reply } from "#test/support/github/effects.ts";
import { appAuth, repo, type StartOptions, start } from "#test/support/github/start.ts";

const minute = 60_000;
const settling = { uncertain: true, settlesInMs: minute };

async function begin(options: StartOptions = {}) {
  const github = await start(options);
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  return github;
}
type World = Awaited<ReturnType<typeof begin>>;

const decidedNow = (github: World, decided: PlatformEffect): PlatformEffect => ({
  ...decided,
  since: new Date(github.clock.ms).toISOString(),
});

/** Tries the effect; GitHub posts the comment, but its answer is lost. */
async function postedUnnoticed(github: World, effect: PlatformEffect): Promise<void> {
  github.standIn.fail({ method: "POST", path: /comments$/, with: { reset: "after" } });
  const lost = await github.platform.perform(effect, first);
  expect(lost).toMatchObject({ ok: false, fault: { certainty: "unknown", retryable: true } });
  expect(github.comments()).toHaveLength(1);
}

const isSettling = { ok: false, fault: { certainty: "unknown", retryable: true, searching: true } };

it("a comment that lists show late is not posted again while they settle, and then found", async () => {
  await using github = await begin();
  github.clock.lagMs = 20_000;
  const one = decidedNow(github, reply());
  await postedUnnoticed(github, one);
  github.clock.ms += 5_000;
  expect(await github.platform.perform(one, settling)).toMatchObject(isSettling);
  github.clock.ms += 20_000;
  const message = String(github.comments()[0]?.id);
  expect(await github.platform.perform(one, settling)).toEqual({ ok: true, kind: "reply", message });
  expect(github.comments()).toHaveLength(1);
});

it("a comment that was never made is posted after the settling time", async () => {
  await using github = await begin();
  github.standIn.fail({ method: "POST", path: /comments$/, with: { reset: "before" } });
  const one = decidedNow(github, reply());
  expect(await github.platform.perform(one, first)).toMatchObject({ fault: { certainty: "unknown" } });
  expect(await github.platform.perform(one, settling)).toMatchObject(isSettling);
  expect(github.comments()).toHaveLength(0);
  expect(await github.platform.perform(one, again)).toMatchObject({ ok: true });
  expect(github.comments()).toHaveLength(1);
});

it.each([-6, -3, 3, 6, 600])("a comment is found if GitHub's clock is off by %i minutes", async (minutes) => {
  await using github = await begin();
  github.clock.skewMs = minutes * minute;
  for (let i = 0; i < 120; i += 1) await github.standIn.comment({ user: "bob", repo, issue: 1, body: "hm" });
  const one = decidedNow(github, reply());
  github.standIn.fail({ method: "POST", path: /comments$/, with: { reset: "after" } });
  await github.platform.perform(one, first);
  github.clock.ms += 30_000;
  expect(await github.platform.perform(one, again)).toMatchObject({ ok: true });
  expect(github.comments()).toHaveLength(121);
});

it("a comment is found after this machine's clock was set back by a day", async () => {
  await using github = await begin();
  const one = decidedNow(github, reply());
  await postedUnnoticed(github, one);
  github.clock.ms -= 24 * 60 * minute;
  github.clock.skewMs += 24 * 60 * minute;
  expect(await github.platform.perform(one, again)).toMatchObject({ ok: true });
  expect(github.comments()).toHaveLength(1);
});

it("a comment whose answer comes too late is found", async () => {
  await using github = await begin({ requestTimeoutMs: 100 });
  github.standIn.fail({ method: "POST", path: /comments$/, with: { lateMs: 300 } });
  const one = decidedNow(github, reply());
  expect(await github.platform.perform(one, first)).toMatchObject({ fault: { certainty: "unknown" } });
  expect(await github.platform.perform(one, again)).toMatchObject({ ok: true });
  expect(github.comments()).toHaveLength(1);
});

it.each([
  { what: "refused", with: { status: 403 } },
  { what: "not found", with: { status: 404 } },
  { what: "an error", with: { status: 500 } },
  { what: "limited", with: { status: 429, headers: { "retry-after": "7" } } },
  { what: "cut", with: { reset: "before" } as const },
])("a search that is $what leaves the outcome unknown and posts nothing", async ({ with: trouble }) => {
  await using github = await begin();
  const one = decidedNow(github, reply());
  github.standIn.fail({ method: "GET", path: /comments$/, with: trouble });
  const outcome = await github.platform.perform(one, again);
  expect(outcome).toMatchObject({ ok: false, fault: { certainty: "unknown", searching: true } });
  expect(github.comments()).toHaveLength(0);
});

it("an App whose installation can't be read leaves the outcome of an uncertain comment unknown", async () => {
  await using github = await begin({ auth: appAuth });
  github.standIn.fail({ path: /installation$/, with: { status: 500 } });
  const outcome = await github.platform.perform(decidedNow(github, reply()), again);
  expect(outcome).toMatchObject({ ok: false, fault: { certainty: "unknown", searching: true } });
});

it("comments that were posted twice are deleted, except the one that the thread knows", async () => {
  await using github = await begin();
  github.clock.lagMs = 90_000;
  const one = decidedNow(github, card("c", 1, "Queued"));
  await postedUnnoticed(github, one);
  github.clock.ms += minute;
  const done = await github.platform.perform(one, again);
  expect(github.comments()).toHaveLength(2);
  if (!done.ok || done.kind !== "card") throw new Error("the card was not posted");
  await github.platform.perform(reply("another"), first);
  const twin = effect({
    kind: "twin-posts",
    of: one.id,
    postedSince: one.since,
    message: done.message,
    looks: 0,
  });
  expect(await github.platform.perform(twin, first)).toEqual({ ok: true, kind: "twin-posts", ended: [] });
  github.clock.ms += 2 * minute;
  const [elder] = github.comments();
  const ended = [String(elder?.id)];
  expect(await github.platform.perform(twin, first)).toEqual({ ok: true, kind: "twin-posts", ended });
  expect(github.comments().map(({ id }) => String(id))).toEqual([done.message, expect.any(String)]);
  expect(github.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  expect(await github.platform.perform(twin, first)).toEqual({ ok: true, kind: "twin-posts", ended: [] });
});

it.each([1, 2])("after a transfer, one of %i copies of a comment stays", async (copies) => {
  const initial = defaultSnapshot();
  const [app] = initial.repos;
  if (app === undefined) throw new Error("there is no repository");
  initial.repos.push({ ...structuredClone(app), id: 200, name: "site", lastNumber: 6 });
  await using github = await begin({ initial });
  const one = { ...decidedNow(github, reply()), at: "github:100#1", to: "github:100#1" };
  for (let i = 0; i < copies; i += 1) await github.platform.perform(one, first);
  const message = String(github.comments()[0]?.id);
  await github.standIn.transferIssue({ user: "bob", repo, issue: 1, to: "octo/site" });
  const [copy, twin] = github.comments().map(({ id }) => String(id));
  const of = { of: one.id, postedSince: one.since, message, looks: 0 };
  const watch = effect({ kind: "twin-posts", ...of }, { at: one.at });
  const ended = twin === undefined ? [] : [twin];
  expect(await github.platform.perform(watch, first)).toEqual({ ok: true, kind: "twin-posts", ended });
  expect(github.comments().map(({ repo, id }) => [repo, String(id)])).toEqual([["octo/site", copy]]);
});
