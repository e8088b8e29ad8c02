import { once } from "node:events";
import { createServer, request } from "node:http";
import { createConnection } from "node:net";
import { afterEach, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { recordingLog } from "#test/support/logs.ts";
import { createMetrics } from "#web/metrics.ts";
import type { Site } from "#web/router.ts";
import { createWeb, type WebOptions } from "#web/server.ts";
import { statusRoutes } from "#web/status.ts";

const running: ReturnType<typeof createWeb>[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((web) => web.stop()));
});

/** A server that listens, its base URL, and what it logged. */
async function listening(options: Omit<WebOptions, "log"> = {}) {
  const { log, lines } = recordingLog();
  const web = createWeb({ log, ...options });
  running.push(web);
  const at = await web.listen({ host: "127.0.0.1", port: 0 });
  if (!at.ok) throw new Error(at.problem);
  return { web, url: at.url, port: at.port, lines };
}

async function serving(site: Partial<Site>) {
  const server = await listening();
  server.web.open({ routes: {}, mounts: {}, ...site });
  return server;
}

test("port 0 returns the actual port", async () => {
  const { url, port } = await serving({});
  expect(port).toBeGreaterThan(0);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

/** A site whose one route keeps the bodies and the waiting times of its requests. */
function keepingSite() {
  const taken: { body: string; waitedMs: number }[] = [];
  const site: Site = {
    routes: {
      "POST /slack/events": async (incoming, response, waitedMs) => {
        let body = "";
        for await (const part of incoming) body += String(part);
        taken.push({ body, waitedMs });
        response.end("taken");
      },
    },
    mounts: { "/api/v1": () => new Response("here") },
  };
  return { site, taken };
}

/** Sends a request and resolves once it has arrived. */
async function arrived(port: number, body: string) {
  const headers = { expect: "100-continue" };
  const sending = request({ port, host: "127.0.0.1", method: "POST", path: "/slack/events", headers });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sending.once("error", reject);
    sending.once("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  status.catch(() => {});
  sending.flushHeaders();
  await once(sending, "continue");
  sending.end(body);
  return { status, leave: () => sending.destroy() };
}

test("requests wait until the bot is open, and are then taken once each, in their order", async () => {
  const { web, url, port } = await listening();
  const { site, taken } = keepingSite();
  const bodies = ["first", "second", "third"];
  const early: Promise<number | undefined>[] = [];
  for (const body of bodies) early.push((await arrived(port, body)).status);
  const large = fetch(`${url}/slack/events`, { method: "POST", body: "x".repeat(300_000) });
  const other = fetch(`${url}/api/v1/agent/runs`);
  web.open(site);
  expect(await Promise.all(early)).toEqual([200, 200, 200]);
  expect(await (await large).text()).toBe("taken");
  expect(await (await other).text()).toBe("here");
  await fetch(`${url}/slack/events`, { method: "POST", body: "late" });
  const waited = taken.filter(({ body }) => bodies.includes(body));
  expect(waited.map(({ body }) => body)).toEqual(bodies);
  expect(waited.every(({ waitedMs }) => waitedMs > 0)).toBe(true);
  expect(taken).toHaveLength(5);
  expect(taken.at(-1)).toEqual({ body: "late", waitedMs: 0 });
});

test("healthz is 200 only once requests are answered", async () => {
  const { web, url } = await listening();
  for (const query of ["", "?probe=1"]) {
    const early = await fetch(`${url}/healthz${query}`);
    expect([early.status, await early.json()]).toEqual([503, { status: "starting" }]);
    expect(early.headers.get("retry-after")).toBe("1");
  }
  web.open({ routes: {}, mounts: {} });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test("a request that waits as long as its sender does gets a 503 and is never taken; others wait on", async () => {
  const { web, url } = await listening({ answerWithinMs: { "/slack/events": 700, "/api/v1": 700 } });
  const { site, taken } = keepingSite();
  const patient = fetch(`${url}/api/v1/agent/runs`);
  const late = await fetch(`${url}/slack/events?x=1`, { method: "POST", body: "x".repeat(300_000) });
  expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"]);
  web.open(site);
  expect((await patient).status).toBe(200);
  expect(taken).toEqual([]);
});

test("a request whose sender has left while it waited is not taken", async () => {
  const { web, url, port } = await listening();
  const { site, taken } = keepingSite();
  const leaving = await arrived(port, "gone");
  leaving.leave();
  await expect(leaving.status).rejects.toThrow();
  // The server notices it within a few turns.
  for (let turn = 0; turn < 5; turn += 1) await fetch(`${url}/healthz`);
  web.open(site);
  expect(await (await fetch(`${url}/slack/events`, { method: "POST", body: "x" })).text()).toBe("taken");
  expect(taken.map(({ body }) => body)).toEqual(["x"]);
});

test("stopping a server that never opened answers the waiting requests at once", async () => {
  const { web, port } = await listening();
  const { status } = await arrived(port, "{}");
  await web.stop();
  expect(await status).toBe(503);
});

test("idle connections stay open longer than proxies use them, so that no request meets a closing one", async () => {
  const { port } = await serving({});
  const asked = request({ port, host: "127.0.0.1", path: "/healthz", headers: { connection: "keep-alive" } });
  const [answer] = await once(asked.end(), "response");
  answer.resume();
  // Of nginx, cloud balancers, Cloudflare's tunnel and Caddy, the last keeps idle connections longest: 120 s.
  expect(Number(/timeout=(\d+)/.exec(answer.headers["keep-alive"])?.[1])).toBeGreaterThan(120);
});

test("an unknown path is a 404 in JSON", async () => {
  const { url } = await serving({});
  const answer = await fetch(`${url}/slack/events`, { method: "POST" });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toEqual({ error: "there is nothing at this path" });
});

test("the wrong method is a 405 that names the right one, and HEAD works like GET", async () => {
  const { url } = await serving({});
  const answer = await fetch(`${url}/healthz`, { method: "POST" });
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe("GET");
  expect((await fetch(`${url}/healthz`, { method: "HEAD" })).status).toBe(200);
});

test("a route is found with any query", async () => {
  const { url } = await serving({});
  expect((await fetch(`${url}/healthz?from=probe`)).status).toBe(200);
});

test("a mount gets its prefix and every path below it, and no other path", async () => {
  const mounts = { "/api/v1": (request: Request) => new Response(new URL(request.url).pathname) };
  const { url } = await serving({ mounts });
  expect(await (await fetch(`${url}/api/v1`)).text()).toBe("/api/v1");
  expect(await (await fetch(`${url}/api/v1/agent/runs?limit=1`)).text()).toBe("/api/v1/agent/runs");
  expect((await fetch(`${url}/api/v10`)).status).toBe(404);
});

test("a listener or mount that fails is a 500 in JSON and is logged, and other requests work", async () => {
  const { url, lines } = await serving({
    routes: { "GET /bad": () => Promise.reject(new Error("no luck")) },
    mounts: {
      "/worse": () => {
        throw new Error("no luck either");
      },
    },
  });
  const answer = await fetch(`${url}/bad?key=secret`);
  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({ error: "something went wrong here" });
  const worse = await fetch(`${url}/worse`);
  expect([worse.status, await worse.json()]).toEqual([500, { error: "something went wrong here" }]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(lines).toContainEqual(
    expect.objectContaining({
      message: "A request failed",
      fields: expect.objectContaining({ path: "/bad" }),
    }),
  );
});

test("a request line without a path is handled", async () => {
  const { url, port } = await serving({ mounts: { "/api/v1": () => new Response("x") } });
  const socket = createConnection(port, "127.0.0.1");
  socket.end("GET http://[ HTTP/1.1\r\nHost: %%%\r\nConnection: close\r\n\r\n");
  await once(socket, "data");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

/** Sends raw bytes and returns everything received until the server closes the connection. */
async function told(port: number, ...bytes: string[]): Promise<string> {
  const socket = createConnection(port, "127.0.0.1").setEncoding("latin1");
  for (const part of bytes) socket.write(part, "latin1");
  let answer = "";
  for await (const text of socket) answer += text;
  return answer;
}

test.each([
  ["no HTTP", "hello\r\n\r\n", 400],
  ["a method that nobody knows", "FOO /api/v1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["a space in the address", "GET /api/v1?q=a b HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["headers without end", `GET /api/v1 HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ["a Host that is none", "GET /api/v1 HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n", 400],
  ["a broken body", "POST /api/v1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n", 400],
])("%s is refused with a problem document", async (_, bytes, status) => {
  const { port } = await serving({
    mounts: { "/api/v1": async (request) => new Response(await request.text()) },
  });
  const [head = "", body = ""] = (await told(port, bytes)).split("\r\n\r\n");
  expect(head.toLowerCase()).toContain(`http/1.1 ${status} `);
  expect(head.toLowerCase()).toContain("content-type: application/problem+json");
  expect(JSON.parse(body)).toMatchObject({
    type: expect.stringMatching(/\/invalid_request$/),
    status,
    detail: expect.stringMatching(/\.$/),
  });
});

test("an HTTP/1.0 request without a Host is answered", async () => {
  const { port } = await serving({ mounts: { "/api/v1": () => new Response("x") } });
  expect(await told(port, "GET /api/v1 HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
});

test("a refusal is never taken for the answer to an earlier complete request", async () => {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const { port } = await serving({
    routes: {
      "POST /slow": async (_, response) => {
        entered.resolve();
        await leave.promise;
        response.end("done");
      },
    },
  });
  const whole = "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
  const answer = told(port, whole, "hello\r\n\r\n");
  await entered.promise;
  expect(await answer).toBe("");
  leave.resolve();
});

test("a port in use is reported in one sentence", async () => {
  const { port } = await listening();
  const { log } = recordingLog();
  expect(await createWeb({ log }).listen({ host: "127.0.0.1", port })).toEqual({
    ok: false,
    problem: `PORT ${port} is already in use on 127.0.0.1: stop the program that uses it, or set PORT to another number.`,
  });
});

test("a host that is not this machine is reported in one sentence", async () => {
  const { log } = recordingLog();
  const answer = await createWeb({ log }).listen({ host: "192.0.2.1", port: 0 });
  expect(answer).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^HOST 192\.0\.2\.1 is not an address/),
  });
});

test("stopping waits for the answer under way, and accepts no further request", async () => {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const { web, url } = await serving({
    routes: {
      "GET /slow": async (_, response) => {
        entered.resolve();
        await leave.promise;
        response.end("done");
      },
    },
  });
  await fetch(`${url}/healthz`);
  const slow = fetch(`${url}/slow`);
  await entered.promise;
  const stopped = web.stop();
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  leave.resolve();
  expect(await (await slow).text()).toBe("done");
  await stopped;
});

test("the time limit for open connections starts with drain, however late stop is called", async () => {
  const { web, port } = await listening({ stopWithinMs: 100 });
  const arrived = Promise.withResolvers<void>();
  web.open({ routes: { "POST /slack/events": () => arrived.resolve() }, mounts: {} });
  const sending = request({ port, host: "127.0.0.1", method: "POST", path: "/slack/events" });
  const failed = once(sending, "error");
  sending.write("{");
  await arrived.promise;
  web.drain();
  // Others are still answered meanwhile.
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  await failed;
  await web.stop();
});

test("stopping a server that never listened takes no time", async () => {
  const { log } = recordingLog();
  await createWeb({ log }).stop();
});

test("an address that Node can't listen on is reported without a stack", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { log } = recordingLog();
  const answer = await createWeb({ log }).listen({ host: "no-such-host.invalid", port: 0 });
  expect(answer).toMatchObject({ ok: false, problem: expect.stringMatching(/^(HOST|Listening)/) });
  taken.close();
});

test("readyz names the failed checks with their reasons, and the others", async () => {
  const checks = {
    store: () => Promise.resolve(),
    slack: () => Promise.reject(new Error("Slack says invalid_auth")),
  };
  const { url } = await serving({ routes: statusRoutes(checks, createMetrics(noLoad).registry) });
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ store: "ok", slack: "Slack says invalid_auth" });
});

test("readyz shows notes, which don't change its status", async () => {
  const checks = { store: () => Promise.resolve() };
  const notes = () => ({ github: "not set up; 4 updates wait for it" });
  const { url } = await serving({ routes: statusRoutes(checks, createMetrics(noLoad).registry, notes) });
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ github: "not set up; 4 updates wait for it", store: "ok" });
});

test("readyz is 200 when all checks pass, and metrics are Prometheus text", async () => {
  const checks = { store: () => Promise.resolve() };
  const { url } = await serving({ routes: statusRoutes(checks, createMetrics(noLoad).registry) });
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ store: "ok" });
  const metrics = await fetch(`${url}/metrics`);
  expect(metrics.headers.get("content-type")).toContain("text/plain");
  expect(await metrics.text()).toContain("process_cpu_seconds_total");
});

test("an endless body does not keep the server from stopping", async () => {
  const { web, port } = await listening({ stopWithinMs: 100 });
  const arrived = Promise.withResolvers<void>();
  web.open({ routes: { "POST /slack/events": () => arrived.resolve() }, mounts: {} });
  const sending = request({ port, host: "127.0.0.1", method: "POST", path: "/slack/events" });
  const failed = once(sending, "error");
  sending.write("{");
  await arrived.promise;
  await web.stop();
  await failed;
});

const noLoad = () => ({ unsettled: 0, pendingEffects: 0, unfinishedRuns: 0 });

test("at most 500 requests wait for the site, and the others are refused at once", async () => {
  const { web, url } = await listening();
  const refusals: number[] = [];
  const sent = Array.from({ length: 520 }, async () => {
    const { status } = await fetch(`${url}/slack/events`, { method: "POST", body: "x" });
    if (status === 503) refusals.push(status);
  });
  await eventually("the refusals", () => refusals.length === 20);
  web.open(keepingSite().site);
  await Promise.all(sent);
  expect(refusals).toHaveLength(20);
});
