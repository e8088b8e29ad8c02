import { defaultSnapshot, type GitHubSnapshot, timeOf } from "#sandbox/github/snapshot.ts";
import { emptyWorkspace, type SlackSnapshot } from "#sandbox/slack/workspace.ts";

/** The first visitor's workspace, with one message; `nowMs` since the epoch. */
export function preparedSlack(nowMs: number): SlackSnapshot {
  const text =
    "The login test failed on main again: it passed on the second try. Does anybody have a minute?";
  const message = { ts: `${Math.floor(nowMs / 1000)}.000100`, user: "UBOB", text };
  return {
    ...emptyWorkspace,
    channels: emptyWorkspace.channels.map((channel) =>
      channel.name === "general" ? { ...channel, messages: [message] } : channel,
    ),
  };
}

/** The first visitor's repository, with one issue; `nowMs` since the epoch. */
export function preparedGitHub(nowMs: number): GitHubSnapshot {
  const empty = defaultSnapshot();
  const [repository] = empty.repos;
  if (repository === undefined) return empty;
  const at = timeOf(nowMs);
  const id = empty.lastId + 1;
  const issue = {
    id,
    repo: `${repository.owner}/${repository.name}`,
    number: 1,
    title: "The login test is flaky",
    body: [
      "`test/login.test.ts` fails about once in ten runs, always in the same place:",
      "```\nexpected status 200, got 401\n    at test/login.test.ts:42\n```",
      "It passes when it is run alone, so it may be the **shared session store**.",
    ].join("\n\n"),
    user: "bob",
    state: "open" as const,
    locked: false,
    pullRequest: false,
    labels: [],
    createdAt: at,
    updatedAt: at,
  };
  return { ...empty, repos: [{ ...repository, lastNumber: 1 }], issues: [issue], lastId: id };
}
