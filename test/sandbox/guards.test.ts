import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { general, openSandbox } from "#test/support/sandbox/opened-sandbox.ts";

const hello = { user: "alice", channel: general, text: "hello" };

/** The status of a request that calls the server by another name. */
async function asHost(url: string, host: string, path: string, method = "GET"): Promise<number> {
  const sent = request(`${url}${path}`, { method, headers: { host, "content-type": "application/json" } });
  sent.end(method === "GET" ? undefined : JSON.stringify(hello));
  const [response] = await once(sent, "response");
  response.destroy();
  return response.statusCode;
}

test("every request under a foreign host name is refused (DNS rebinding)", async () => {
  const { url, received } = await openSandbox();
  for (const path of [
    "/sandbox",
    "/sandbox/events",
    "/sandbox/page/page.js",
    "/sandbox/slack/api/auth.test",
  ]) {
    expect(await asHost(url, "evil.example", path)).toBe(403);
  }
  expect(await asHost(url, "evil.example:3000", "/sandbox/act/slack/say", "POST")).toBe(403);
  expect(await asHost(url, "127.0.0.1.evil.example", "/sandbox/act/slack/say", "POST")).toBe(403);
  expect(received).toEqual([]);
});

test("every loopback name and the public address are accepted", async () => {
  const { url } = await openSandbox({ publicUrl: "https://agents.example.com" });
  for (const host of ["localhost:1", "127.0.0.1", "[::1]:80", "agents.example.com"]) {
    expect([host, await asHost(url, host, "/sandbox")]).toEqual([host, 200]);
  }
});

test.each([
  ["its Origin", { origin: "https://evil.example" }],
  ["an opaque Origin", { origin: "null" }],
  ["the Origin of another port", { origin: "http://127.0.0.1:1" }],
  ["Sec-Fetch-Site", { "sec-fetch-site": "cross-site" }],
  ["Sec-Fetch-Site of another port", { "sec-fetch-site": "same-site" }],
])("another web site is recognised by %s and may not act", async (_, headers) => {
  const opened = await openSandbox();
  const { status, answer } = await opened.act("slack/say", hello, headers);
  expect(status).toBe(403);
  expect(answer).toEqual({ ok: false, error: expect.stringMatching(/web site/) });
  const watched = await fetch(`${opened.url}/sandbox/events`, { headers });
  expect(watched.status).toBe(403);
  expect(opened.received).toEqual([]);
});

test("our own page may act", async () => {
  const opened = await openSandbox();
  const headers = { origin: opened.url, "sec-fetch-site": "same-origin" };
  expect((await opened.act("slack/say", hello, headers)).status).toBe(200);
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
  "a body of type %o, which another site's form could send, is refused",
  async (type) => {
    const opened = await openSandbox();
    const { status } = await opened.act("slack/say", hello, { "content-type": type });
    expect(status).toBe(415);
    expect(opened.received).toEqual([]);
  },
);

test("JSON may have a charset, and an invalid body is refused", async () => {
  const opened = await openSandbox();
  const type = { "content-type": "application/json; charset=utf-8" };
  expect((await opened.act("slack/say", hello, type)).status).toBe(200);
  expect((await opened.act("slack/say", "{not json")).status).toBe(400);
});

test("a body that is too long is refused, even without a Content-Length", async () => {
  const opened = await openSandbox();
  const long = JSON.stringify({ ...hello, text: "x".repeat(400_000) });
  expect((await opened.act("slack/say", long)).status).toBe(413);
  const sent = request(`${opened.url}/sandbox/act/slack/say`, {
    method: "POST",
    headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
  });
  sent.on("error", () => {});
  sent.end(long);
  const [answer] = await once(sent, "response");
  answer.destroy();
  expect(answer.statusCode).toBe(413);
});

test("acts only accept POST", async () => {
  const { url } = await openSandbox();
  const answer = await fetch(`${url}/sandbox/act/slack/say`);
  expect(answer.status).toBe(405);
});

test("the stand-ins' endpoints require their tokens", async () => {
  const { environment } = (await openSandbox()).sandbox;
  const slack = (headers: Record<string, string>) =>
    fetch(`${environment.SLACK_API_URL}auth.test`, { method: "POST", headers }).then((answer) =>
      answer.json(),
    );
  expect(await slack({})).toEqual({ ok: false, error: "not_authed" });
  expect(await slack({ authorization: "Bearer xoxb-guess" })).toEqual({ ok: false, error: "invalid_auth" });
  expect(await slack({ authorization: `Bearer ${environment.SLACK_BOT_TOKEN}` })).toMatchObject({ ok: true });
  const github = (headers: Record<string, string>) =>
    fetch(`${environment.GITHUB_API_URL}/user`, { headers }).then(({ status }) => status);
  expect(await github({})).toBe(401);
  expect(await github({ authorization: "token guess" })).toBe(401);
  expect(await github({ authorization: `token ${environment.GITHUB_TOKEN}` })).toBe(200);
});

test("two sandboxes have no secret in common", async () => {
  const [one, other] = [await openSandbox(), await openSandbox()];
  const names = ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "GITHUB_TOKEN", "GITHUB_WEBHOOK_SECRET"];
  const secrets = [one, other].flatMap(({ sandbox }) => names.map((name) => sandbox.environment[name]));
  expect(secrets).not.toContain(undefined);
  expect(new Set(secrets).size).toBe(8);
});
