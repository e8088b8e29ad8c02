/** The bot's machine has its clock set back while the bot is away. */
import { expect, it } from "vitest";
import { repo, start } from "#test/support/github/start.ts";

const minute = 60_000;

it("reads back what was said before the step, by GitHub's own clock", async () => {
  await using before = await start();
  await before.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  let kept: string | null = null;
  const since = new Date(before.clock.ms - 15 * minute).toISOString();
  const look = { since, places: [], scopes: [`github:${repo}`] };
  await before.platform.missed({
    ...look,
    keep: (text) => {
      kept = text;
    },
  });
  before.standIn.turnOff(true);
  before.clock.ms += 5 * minute;
  const { id } = await before.standIn.comment({ user: "alice", repo, issue: 1, body: "/agent run it" });
  before.clock.ms += 60 * minute;

  await using after = await start({ initial: before.standIn.snapshot() });
  after.clock.ms = before.clock.ms - 40 * minute;
  after.clock.skewMs = 40 * minute;
  expect(await after.platform.missed({ ...look, kept })).toMatchObject([{ id: `github:comment:${id}` }]);
});
