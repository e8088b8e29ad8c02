import { expect, it } from "vitest";
import { paces } from "#github/send/paces.ts";
import { alice, card, effect, permission, reply, view } from "#test/support/github/effects.ts";

const keysOf = (what: ReturnType<typeof reply>): string[] =>
  paces(what).map(({ key, count, perMs }) => `${key}: ${count} in ${perMs}`);

it("writes keep a second's distance in a repository, and 80 a minute in all", () => {
  const writes = [
    reply(),
    card("c", 1, "Queued"),
    effect({ kind: "tell", person: alice, view }),
    effect({ kind: "react", message: "1", reaction: "taken" }),
    effect({ kind: "label", label: "agent:done", revision: 1 }),
  ];
  for (const write of writes) {
    const all = "writes: 80 in 60000";
    expect(keysOf(write)).toEqual(["writes github:octo/app: 1 in 1000", all]);
    const [first] = keysOf({ ...write, at: "github:100#12" });
    expect(first).toBe("writes github:100: 1 in 1000");
  }
});

it("reads keep none", () => {
  expect(keysOf(permission("alice"))).toEqual([]);
  expect(keysOf(effect({ kind: "read", until: "2026-03-01T12:00:00Z", dispatch: "d" }))).toEqual([]);
});
