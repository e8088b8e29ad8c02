import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startBot } from "#test/support/bot/start-bot.ts";
import { startScript } from "#test/support/bot/start-script.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { listen } from "#test/support/listen.ts";

test("with an empty environment it starts, prints its address, and all its built-in parts answer", async () => {
  const bot = await startBot();
  const url = await bot.url;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(bot.stdout()).toContain(`try the bot at ${url}/sandbox`);
  const ready = await fetch(`${url}/readyz`);
  expect(await ready.json()).toEqual({ store: "ok", api: "ok", slack: "ok", github: "ok" });
  expect(ready.status).toBe(200);
  expect((await fetch(`${url}/api/v1/agent/runs`)).status).toBe(401);
  expect((await fetch(url, { redirect: "manual" })).headers.get("location")).toBe("/sandbox");
  const page = await fetch(`${url}/sandbox`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toContain("text/html");
});

test("every problem is reported at once, in sentences, and the exit status is 1", async () => {
  const bot = await startBot({ PORT: "http", SLACK_BOT_TOKEN: "xoxb-1", SLACK_SIGNIN_SECRET: "x" });
  expect(await bot.ended).toBe(1);
  expect(bot.stdout()).toBe("");
  expect(bot.stderr().trimEnd().split("\n")).toEqual([
    "PORT must be a whole number, 0 to 65535.",
    expect.stringMatching(/^SLACK_SIGNING_SECRET is missing: copy it from .+\.$/),
    "SLACK_SIGNIN_SECRET is not a setting. Did you mean SLACK_SIGNING_SECRET?",
  ]);
});

test.each([[["--port", "3000"]], [["service", "--verbose"]]])(
  "arguments %j are refused with the way to set what they may mean",
  async (scriptArgs) => {
    const bot = await startBot({}, { scriptArgs });
    expect(await bot.ended).toBe(1);
    expect(bot.stdout()).toBe("");
    expect(bot.stderr()).toMatch(/^The bot and the service take no arguments: .*\.env\.example\)\.\n$/);
  },
);

test("a port in use is reported in one sentence, without a stack", async () => {
  const { port, close } = await listen(createServer());
  onTestFinished(close);
  const bot = await startBot({ PORT: String(port), LOG_LEVEL: "error" });
  expect(await bot.ended).toBe(1);
  expect(bot.stderr()).toBe(
    `PORT ${port} is already in use on 127.0.0.1: stop the program that uses it, or set PORT to another number.\n`,
  );
});

test("a second bot on the same data is refused in one sentence, and the first goes on", async () => {
  const cwd = await freshFolder();
  const first = await startBot({}, { cwd });
  const url = await first.url;
  const second = await startBot({ LOG_LEVEL: "error" }, { cwd });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toMatch(/^The folder \.\/data is in use by process \d+\. .*DATA_DIR.*\n$/);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test("on a Node that is too old, it says what to do, and loads nothing else", async () => {
  const old = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";
  const nodeArgs = ["--import", `data:text/javascript,${encodeURIComponent(old)}`];
  const bot = await startBot({ PORT: "not even read" }, { nodeArgs });
  expect(await bot.ended).toBe(1);
  expect(bot.stderr()).toMatch(/^agent-runs-bot needs Node 24 or later .*npm install.*npm start.*\.\n$/);
});

test("a signal stops it cleanly, with exit status 0, and frees its data", async () => {
  const cwd = await freshFolder();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const bot = await startBot({}, { cwd });
    await bot.url;
    bot.signal(signal);
    expect(await bot.ended).toBe(0);
    expect(bot.stderr()).not.toContain('"level":"error"');
  }
});

test("it also stops cleanly if the signal ends the shell that npm started it with", async () => {
  const cwd = await freshFolder();
  const { PATH = "" } = process.env;
  const line = `"${process.execPath}" "${startScript}" 2>log; true`;
  const env = { PATH, PORT: "0", npm_lifecycle_event: "start" };
  const shell = spawn("sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const [greeting] = await once(shell.stdout, "data");
  const url = /listens at (\S+)/.exec(String(greeting))?.[1];
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
  expect(await isUp()).toBe(true);
  const pid = Number(await readFile(join(cwd, "data/lock.pid"), "utf8"));
  onTestFinished(async () => {
    if (await isUp()) process.kill(pid, "SIGKILL");
  });
  shell.kill("SIGTERM");
  await expect.poll(isUp, { timeout: 10_000 }).toBe(false);
  expect(await readFile(join(cwd, "log"), "utf8")).toContain(
    '"reason":"npm has ended","msg":"The bot is stopping"',
  );
});

test("a second signal ends it at once, even during a request", async () => {
  const bot = await startBot();
  const url = await bot.url;
  const sending = request(`${url}/github/webhooks`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": "10",
      "x-github-event": "ping",
      "x-github-delivery": "d-1",
      "x-hub-signature-256": "sha256=0",
      expect: "100-continue",
    },
  });
  const broken = once(sending, "error");
  sending.flushHeaders();
  await once(sending, "continue");
  bot.signal("SIGTERM");
  await expect.poll(bot.stderr).toContain("The bot is stopping");
  bot.signal("SIGTERM");
  expect(await bot.ended).toBe(143);
  await broken;
});

test(".env in the working directory is read, and the real environment wins over it", async () => {
  const cwd = await freshFolder();
  await writeFile(join(cwd, ".env"), "DATA_DIR=./from-file\nLOG_LEVEL=loud\n");
  const bot = await startBot({ LOG_LEVEL: "warn" }, { cwd });
  await bot.url;
  expect((await stat(join(cwd, "from-file"))).isDirectory()).toBe(true);
});

test.each([
  ["with a byte order mark", Buffer.from("\uFEFFPORT=http\n")],
  ["in UTF-16", Buffer.from("\uFEFFPORT=http\n", "utf16le")],
])("a .env %s is refused, since its settings would be passed over", async (_, content) => {
  const cwd = await freshFolder();
  await writeFile(join(cwd, ".env"), content);
  const bot = await startBot({}, { cwd });
  expect(await bot.ended).toBe(1);
  expect(bot.stderr()).toBe(".env is not plain UTF-8: save it as UTF-8 without a byte order mark (BOM).\n");
});

test("the embedded service's key is kept for its owner alone, and is in no output", async () => {
  const cwd = await freshFolder();
  const path = join(cwd, "data/embedded-service-key");
  const keys: string[] = [];
  for (let round = 0; round < 2; round++) {
    const bot = await startBot({ LOG_LEVEL: "trace" }, { cwd });
    const url = await bot.url;
    const key = (await readFile(path, "utf8")).trim();
    const asked = await fetch(`${url}/api/v1/agent/runs`, { headers: { authorization: `Bearer ${key}` } });
    expect(asked.status).toBe(200);
    bot.signal("SIGTERM");
    await bot.ended;
    expect(bot.stdout() + bot.stderr()).not.toContain(key);
    keys.push(key);
  }
  expect(keys[0]).toMatch(/^[\w-]{43}$/);
  expect(keys[1]).toBe(keys[0]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("one platform alone is enough: it starts even if that platform is down, and readyz names it", async () => {
  // Nothing listens there, and no test is given this port, as one that was free a moment ago may be.
  const down = "http://127.0.0.1:2";
  const bot = await startBot({
    GITHUB_TOKEN: "token-of-nobody",
    GITHUB_WEBHOOK_SECRET: "hook-secret",
    GITHUB_API_URL: down,
  });
  const url = await bot.url;
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(503);
  const answer = await ready.json();
  expect(answer).toEqual({ store: "ok", api: "ok", github: expect.any(String) });
  expect(JSON.stringify(answer)).not.toMatch(/"github":"ok"/);
  await expect
    .poll(bot.stderr)
    .toContain('"reason":"GitHub could not be reached.","msg":"Not ready: github"');
  expect((await fetch(`${url}/sandbox`)).status).toBe(404);
  expect((await fetch(`${url}/slack/events`, { method: "POST" })).status).toBe(404);
  expect(bot.stdout()).toContain(`webhook URL ${url}/github/webhooks`);
  expect(bot.stdout() + bot.stderr()).not.toMatch(/token-of-nobody|hook-secret/);
});
