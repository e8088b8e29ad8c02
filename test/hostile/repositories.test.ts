/** Repositories, labels and replies of people who want what is not theirs. */
import { expect, test } from "vitest";
import { createDecide } from "#core/decide/decide.ts";
import { presentName } from "#core/decide/places.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Thread } from "#core/thread.ts";
import { createEarlyReplies } from "#engine/accept-early-replies.ts";
import { createTimers } from "#engine/base/timers.ts";
import { createKnownRepositories } from "#github/read/known-repositories.ts";
import {
  alice,
  at,
  comment,
  labelled,
  octoAlice,
  reply,
  rules,
  story,
  subject,
} from "#test/support/core/story.ts";
import { createHandClock } from "#test/support/engine/hand-clock.ts";

const writer = { ...octoAlice, permission: "write" as const };
const mallory = { ...octoAlice, id: "mallory", name: "mallory" };

/** The thread after the event. */
function after(thread: Thread, event: PlatformEvent): Thread {
  const decision = createDecide(rules)(thread, event, Date.parse(at(100)));
  return decision.kind === "keep" ? decision.thread : thread;
}

test("a transferred issue takes nothing over from the repository that had its repository's name", () => {
  const it = story();
  it.give(labelled("agent", { by: writer, place: "github:octo/app#7" }));
  it.performAll();
  const known = after(it.thread(), {
    ...comment("hi", { by: writer, at: at(50), place: "github:100#7", scope: "github:octo/core" }),
    formerPlaces: ["github:octo/core#7", "github:octo/app#7"],
  });
  expect(presentName(known, "github:octo/app#7")).toBe("github:100#7");
  const moved = { kind: "moved", id: "m1", at: at(60), by: mallory, scope: "github:octo/evil" } as const;
  const stolen = after(known, {
    ...moved,
    place: "github:667#1",
    formerPlaces: ["github:666#7", "github:octo/app#7"],
  });
  expect(presentName(stolen, "github:octo/app#7")).toBe("github:100#7");
  expect(stolen.scope).toBe("github:octo/core");
  const transferred = after(known, {
    ...moved,
    scope: "github:octo/site",
    place: "github:200#1",
    formerPlaces: ["github:100#7", "github:octo/core#7"],
  });
  expect(presentName(transferred, "github:octo/app#7")).toBe("github:200#1");
});

test("a repository under another's former name can't cancel that one's runs", () => {
  const it = story();
  it.give(labelled("agent", { by: writer, place: "github:100#7" }));
  it.performAll();
  it.run("INPROGRESS", 10);
  const command = { kind: "command", scope: "github:octo/app", text: "cancel run-1" } as const;
  const by = { ...mallory, permission: "write" as const };
  const other = after(it.thread(), { ...command, id: "c1", at: at(60), by, place: "github:666#1" });
  expect(other.effects.filter(({ kind }) => kind === "cancel")).toEqual([]);
  const own = after(it.thread(), { ...command, id: "c2", at: at(60), by, place: "github:100#9" });
  expect(own.effects.filter(({ kind }) => kind === "cancel")).toHaveLength(1);
});

test("a label of somebody who may not ask hides nobody else's", () => {
  const it = story();
  const place = "github:100#7";
  it.give(labelled("agent", { by: mallory, at: at(0), place }));
  it.outcome(it.one("permission").id, { ok: true, kind: "permission", permission: "read" });
  it.give(labelled("agent", { id: "github:labeled:5", recovered: true, by: writer, at: at(40), place }));
  expect(it.thread().runs).toHaveLength(1);
});

test("many replies of somebody who may not ask hold up no report", () => {
  const it = story();
  it.give(labelled("agent", { by: writer, at: at(0) }));
  it.performAll();
  it.run("INPROGRESS", 5);
  it.performAll();
  const by = { ...mallory, permission: "read" as const };
  for (let count = 0; count < 300; count += 1)
    it.give(comment("hey", { id: `github:comment:${count}`, message: `${count}`, by, at: at(10 + count) }));
  expect(it.effects("react").length).toBeGreaterThan(0);
  expect(it.effects("react").length).toBeLessThanOrEqual(10);
});

test("names of one repository, and repositories that are gone, cost a search next to nothing", () => {
  const scopes = Array.from({ length: 300 }, (_, index) => `github:octo/r${index}`);
  const search = (known: ReturnType<typeof createKnownRepositories>, round: number): string[] => {
    known.begin({ places: [], lively: ["github:5#1"], scopes, since: at(0), kept: null });
    return [...known.due(scopes, 0, 1_000 + round * 300_000)].map(([scope]) => scope);
  };
  const heard = (place: string, scope: string) =>
    ({ kind: "reply", id: place, at: at(0), by: alice, scope, place }) as PlatformEvent;
  const renamed = createKnownRepositories();
  for (const scope of scopes) renamed.learn(heard("github:5#1", scope));
  expect(search(renamed, 0)).toEqual(["github:octo/r299"]);
  const deleted = createKnownRepositories();
  scopes.forEach((scope, index) => void deleted.learn(heard(`github:${index + 1}#1`, scope)));
  for (const scope of search(deleted, 0)) deleted.failed(scope, 0, true);
  expect(search(deleted, 1)).toEqual([]);
});

test("many comments on one issue push no early reply out of another place", () => {
  const clock = createHandClock();
  const early = createEarlyReplies({ clock, timers: createTimers(clock) });
  const waiting = reply("also the docs", { place: "slack:T1:C1:1.1" });
  early.keep(waiting, null);
  const body = "b".repeat(65_000);
  for (let count = 0; count < 500; count += 1)
    early.keep(comment(body, { id: `github:comment:${count}`, subject: { ...subject, body } }), null);
  expect(early.has(waiting)).toBe(true);
});
