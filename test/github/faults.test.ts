import { describe, expect, it } from "vitest";
import { first, reply } from "#test/support/github/effects.ts";
import { appAuth, repo, start, token, tokenAuth } from "#test/support/github/start.ts";

const comments = { method: "POST", path: /comments$/ };

const posting = "POST /repos/octo/app/issues/1/comments";

/** Posts once against `answer`, which must cause the requests `asked`, and once more without it. */
async function faultAfter(
  answer: { status: number; headers?: Record<string, string>; body?: unknown },
  asked: readonly string[] = [posting],
) {
  await using github = await start();
  await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
  github.standIn.fail({ ...comments, with: answer });
  const done = await github.platform.perform(reply(), first);
  expect(done.ok).toBe(false);
  expect(github.calls()).toEqual(asked);
  expect((await github.platform.perform(reply(), first)).ok).toBe(true);
  return done.ok ? null : done.fault;
}

describe("GitHub's rate limits", () => {
  const limited = { certainty: "refused", retryable: true, limited: true };
  const reset = String(Date.parse("2026-03-01T12:00:00Z") / 1000 + 90);

  it.each([403, 429])("wait for the reset of the hourly one (%i)", async (status) => {
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    expect(await faultAfter({ status, headers })).toMatchObject({ ...limited, retryAfterMs: 90_000 });
  });

  it.each([403, 429])("wait as long as the secondary one (%i) says", async (status) => {
    const headers = { "retry-after": "17", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    expect(await faultAfter({ status, headers })).toMatchObject({ ...limited, retryAfterMs: 17_000 });
  });

  it("wait a minute if none is named", async () => {
    expect(await faultAfter({ status: 429 })).toMatchObject({ ...limited, retryAfterMs: 60_000 });
    const documentation_url = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api";
    expect(
      await faultAfter({ status: 403, body: { message: "Slow down", documentation_url } }),
    ).toMatchObject({
      ...limited,
      retryAfterMs: 60_000,
    });
  });
});

describe("a refusal", () => {
  const final = (word: string) => ({
    certainty: "refused",
    retryable: false,
    reason: expect.stringContaining(word),
  });

  it.each([
    [403, "locked"],
    [422, "invalid"],
    [451, "HTTP 451"],
  ])("with %i is final and says why", async (status, word) => {
    expect(await faultAfter({ status })).toEqual(final(word));
  });

  it.each([
    [404, "no access"],
    [410, "deleted"],
  ])("with %i is final and says why, once GitHub names no other address", async (status, word) => {
    const asked = [posting, "GET /repos/octo/app/issues/1"];
    expect(await faultAfter({ status }, asked)).toEqual(final(word));
  });

  it("of the credentials may be retried, since they may be renewed", async () => {
    expect(await faultAfter({ status: 401 })).toEqual({
      certainty: "refused",
      retryable: true,
      reason: expect.stringContaining("credentials"),
    });
  });

  it("names the missing permission and GitHub's own code", async () => {
    const headers = { "x-accepted-github-permissions": "issues=write" };
    expect(await faultAfter({ status: 403, headers })).toMatchObject({
      reason: expect.stringContaining("issues=write"),
    });
    const body = { message: "Validation Failed", errors: [{ code: "too_long" }] };
    expect(await faultAfter({ status: 422, body })).toMatchObject({ code: "too_long" });
  });

  it("of a locked issue says that it is locked", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    github.standIn.lock({ repo, issue: 1 });
    const done = await github.platform.perform(reply(), first);
    expect(done).toMatchObject({
      ok: false,
      fault: { certainty: "refused", reason: expect.stringContaining("locked") },
    });
  });

  it("of a wrong token does not reveal the token", async () => {
    await using github = await start({ auth: { token: "ghp_another" } });
    const done = await github.platform.perform(reply(), first);
    expect(done).toMatchObject({ ok: false, fault: { certainty: "refused", retryable: true } });
    await expect(github.platform.check()).rejects.toThrow("credentials");
    expect(JSON.stringify([done, github.lines])).not.toContain("ghp_another");
  });
});

describe("an unknown outcome", () => {
  const unknown = { ok: false, fault: { certainty: "unknown", retryable: true } };

  it.each([500, 502, 503])("follows an error of GitHub's own (%i)", async (status) => {
    expect(await faultAfter({ status })).toMatchObject(unknown.fault);
  });

  it.each(["before", "after"] as const)("follows a time-out, for that request only (%s)", async (hang) => {
    await using github = await start({ requestTimeoutMs: 300 });
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    github.standIn.fail({ ...comments, with: { hang } });
    expect(await github.platform.perform(reply("e1"), first)).toMatchObject(unknown);
    expect(github.comments()).toHaveLength(hang === "after" ? 1 : 0);
    // The next request has a time of its own.
    expect(await github.platform.perform(reply("e2"), first)).toMatchObject({ ok: true });
  });

  it.each(["before", "after"] as const)("follows a cut connection (%s)", async (reset) => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    github.standIn.fail({ ...comments, with: { reset } });
    expect(await github.platform.perform(reply("e1"), first)).toMatchObject(unknown);
    expect(github.comments()).toHaveLength(reset === "after" ? 1 : 0);
  });

  it("follows a malformed response", async () => {
    await using github = await start();
    await github.standIn.openIssue({ user: "bob", repo, title: "Broken" });
    github.standIn.fail({ ...comments, with: { status: 201, body: { hello: "there" } } });
    expect(await github.platform.perform(reply("e1"), first)).toMatchObject(unknown);
  });
});

describe.each([
  ["a token", tokenAuth],
  ["an App", appAuth],
])("a GitHub that can't be reached with %s", (_name, auth) => {
  it("has certainly not done anything", async () => {
    await using github = await start({ auth });
    await github.stopApi();
    const done = await github.platform.perform(reply(), first);
    expect(done).toMatchObject({ ok: false, fault: { certainty: "not-sent", retryable: true } });
    await expect(github.platform.check()).rejects.toThrow("could not be reached");
    expect(JSON.stringify(github.lines)).not.toContain(token);
  });
});
