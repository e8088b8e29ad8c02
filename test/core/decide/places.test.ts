import { expect, test } from "vitest";
import { withAlias } from "#core/decide/places.ts";
import type { PlatformEvent } from "#core/event.ts";
import { comment, labelled, story } from "#test/support/core/story.ts";

const byName = "github:octo/app#7";
const from = (repository: number, more: Partial<PlatformEvent> = {}): PlatformEvent => ({
  ...comment("and the docs", { place: `github:${repository}#7`, formerPlaces: [byName] }),
  ...(more as object),
});

function threadByName() {
  const it = story();
  it.give(labelled("agent", { place: byName }));
  return it.thread();
}

test("a thread that was saved under its repository's name is taken over under the repository's id", () => {
  const thread = withAlias(threadByName(), from(100));
  expect(thread.aliases).toEqual({ "github:100#7": byName });
});

test("another repository that was made under the old name takes over nothing", () => {
  const thread = withAlias(threadByName(), from(100));
  expect(withAlias(thread, from(200))).toBe(thread);
});
