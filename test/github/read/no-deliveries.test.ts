/** What people did while GitHub made no deliveries: the App was suspended, or the webhook off. */
import { describe, expect, it } from "vitest";
import { appAuth, repo, type StartOptions, start, tokenAuth } from "#test/support/github/start.ts";

async function begin(options: StartOptions) {
  const github = await start(options);
  const { standIn, clock } = github;
  await standIn.openIssue({ user: "bob", repo, title: "Broken" });
  const beganMs = clock.ms;
  const later = () => {
    clock.ms += 1_000;
  };
  const label = (name = "agent") => {
    later();
    return standIn.label({ user: "alice", repo, issue: 1, label: name });
  };
  const comment = (body: string) => {
    later();
    return standIn.comment({ user: "alice", repo, issue: 1, body });
  };
  const missed = (sinceMs = beganMs) =>
    github.platform.missed({
      since: new Date(sinceMs).toISOString(),
      places: [],
      scopes: [`github:${repo}`],
    });
  return { ...github, later, label, comment, missed };
}

const ways: readonly [string, StartOptions][] = [
  ["an App", { auth: appAuth }],
  ["a token that sees webhooks", { auth: tokenAuth, hooksAllowed: true }],
  ["a token", { auth: tokenAuth }],
];

describe.each(ways)("with %s", (_, options) => {
  it("labels and comments from while the webhook was off are found, in order with failed deliveries", async () => {
    const github = await begin(options);
    await using _end = github;
    github.standIn.turnOff(true);
    await github.label();
    github.standIn.turnOff(false);
    github.state.down = true;
    await github.comment("Mind the tests");
    github.state.down = false;
    github.later();
    expect(await github.missed()).toMatchObject([
      { kind: "label", label: "agent", place: "github:100#1", recovered: true },
      { kind: "reply", text: "Mind the tests" },
    ]);
  });
});

it.each(ways)(
  "with %s, events are found although GitHub's clock is six minutes behind",
  async (_, options) => {
    const github = await begin(options);
    await using _end = github;
    github.clock.skewMs = -360_000;
    github.clock.ms += 60_000;
    github.standIn.turnOff(true);
    await github.label();
    expect(await github.missed(github.clock.ms - 30_000)).toMatchObject([{ kind: "label" }]);
  },
);

it("events are found although this machine's clock was set back while the bot was away", async () => {
  await using github = await start();
  const { standIn, clock } = github;
  await standIn.openIssue({ user: "bob", repo, title: "Broken" });
  let kept: string | null = null;
  const look = {
    since: new Date(clock.ms - 900_000).toISOString(),
    places: [],
    scopes: [`github:${repo}`],
    keep: (text: string) => {
      kept = text;
    },
  };
  await github.platform.missed(look);
  standIn.turnOff(true);
  clock.ms += 60_000;
  await standIn.comment({ user: "alice", repo, issue: 1, body: "Hello?" });

  await using later = await start({ initial: standIn.snapshot() });
  // Two hours later; our clock shows one.
  later.clock.ms = clock.ms + 3_600_000;
  later.clock.skewMs = 3_600_000;
  expect(await later.platform.missed({ ...look, kept })).toMatchObject([{ text: "Hello?" }]);
});

it.each(ways.slice(0, 2))("with %s, what was delivered is not read back", async (_, options) => {
  const github = await begin(options);
  await using _end = github;
  await github.label();
  await github.comment("Mind the tests");
  github.later();
  expect(await github.missed()).toEqual([]);
});

it("labels from while the App was suspended are found although it was looked for them meanwhile", async () => {
  const github = await begin({ auth: appAuth });
  await using _end = github;
  const beganMs = github.clock.ms;
  github.standIn.suspend(true);
  await github.label();
  expect(await github.missed()).toEqual([]);
  github.clock.ms += 300_000;
  const lookedMs = github.clock.ms;
  expect(await github.missed(beganMs + 150_000)).toEqual([]);
  github.standIn.suspend(false);
  expect(await github.missed(lookedMs)).toMatchObject([{ kind: "label", label: "agent" }]);
  expect(await github.missed(lookedMs)).toEqual([]);
});
