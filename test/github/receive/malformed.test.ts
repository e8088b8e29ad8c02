/** Signed deliveries that lack what their event always has are refused with 400; 503 is for what may succeed later. */
import { expect, test } from "vitest";
import { start } from "#test/support/github/start.ts";

const alice = { login: "alice", type: "User" };
const common = {
  issue: {
    number: 1,
    title: "T",
    body: null,
    html_url: "https://x",
    user: alice,
    updated_at: "2026-03-01T12:00:00Z",
  },
  repository: { id: 100, full_name: "octo/app" },
  sender: alice,
};
const { issue } = common;
const payloads: Readonly<Record<string, object>> = {
  issue_comment: {
    ...common,
    action: "created",
    comment: { id: 7, body: "hi", created_at: "2026-03-01T12:00:00Z", user: alice },
  },
  issues: { ...common, action: "labeled", label: { name: "agent" } },
  pull_request: { ...common, action: "labeled", pull_request: issue, label: { name: "agent" } },
};

test.each([
  ["issue_comment", { issue: null }],
  ["issue_comment", { issue: { ...issue, number: null } }],
  ["issue_comment", { comment: null }],
  ["issue_comment", { repository: null }],
  ["issue_comment", { repository: { id: 100, full_name: null } }],
  ["issue_comment", { sender: null }],
  ["issue_comment", { sender: { login: null } }],
  ["issues", { issue: null }],
  ["issues", { label: null }],
  ["issues", { label: { name: null } }],
  ["issues", { repository: null }],
  ["issues", { sender: null }],
  ["issues", { action: "transferred", changes: null }],
  ["pull_request", { pull_request: null }],
  ["pull_request", { label: null }],
])("%s with %j is refused with 400 and a sentence, and logged", async (event, odd) => {
  await using github = await start();
  github.standIn.fail({ path: "/user", with: { status: 500 } });
  const answer = await github.standIn.send({ event, payload: { ...payloads[event], ...odd } });
  expect(answer).toMatchObject({
    status: 400,
    body: "The payload lacks fields that this event always has.\n",
  });
  expect(github.events).toEqual([]);
  expect(JSON.stringify(github.lines)).toContain("A GitHub delivery could not be understood");
});

test.each([
  ["issue_comment", { issue: { ...issue, user: null } }],
  ["issue_comment", { comment: { id: 7, body: null, created_at: issue.updated_at, user: null } }],
  ["issues", { repository: { id: null, full_name: "octo/app" } }],
  ["pull_request", { issue: null }],
])("%s with %j is understood", async (event, odd) => {
  await using github = await start();
  const answer = await github.standIn.send({ event, payload: { ...payloads[event], ...odd } });
  expect(answer.status).toBe(200);
  expect(github.events).toHaveLength(1);
});
