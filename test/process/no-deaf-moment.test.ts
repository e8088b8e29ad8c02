import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startStandIns } from "#test/support/bot/stand-ins.ts";
import { startBot } from "#test/support/bot/start-bot.ts";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { listen } from "#test/support/listen.ts";
import {
  form,
  gitHubComment,
  gitHubHeaders,
  post,
  slackCommand,
  slackHeaders,
} from "#test/support/signed.ts";

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const { port, close } = await listen(createServer());
  await close();
  return port;
}

/** The status of an answer, or the code of the error that came instead. */
type Answer = number | string;

/** Sends requests at intervals, each as soon as it is due, until `stop`, which resolves with all answers in order. */
function sendAtIntervals(ms: number, send: (number: number) => Promise<Answer>) {
  const answers: Promise<Answer>[] = [];
  const next = (): void => {
    const code = (error: unknown): string =>
      error instanceof Error && "code" in error ? `${error.code}` : "?";
    answers.push(send(answers.length).catch(code));
  };
  const timer = setInterval(next, ms);
  return {
    answers,
    stop(): Promise<readonly Answer[]> {
      clearInterval(timer);
      return Promise.all(answers);
    },
  };
}

/** Asserts that nothing listens at first, and that every request from then on is answered with one of these. */
function expectNoGap(answers: readonly Answer[], ...expected: readonly Answer[]): readonly number[] {
  const first = answers.findIndex((answer) => answer !== "ECONNREFUSED");
  expect(first).toBeGreaterThan(0);
  const heard = answers.slice(first);
  expect(heard.length).toBeGreaterThan(20);
  expect(new Set(heard)).toEqual(new Set(expected));
  return heard.map((_, index) => first + index);
}

async function connected(socketMode = false) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const standIns = await startStandIns({ botUrl: () => url, socketMode });
  onTestFinished(() => standIns.close());
  return { ...standIns, port, url, environment: { ...standIns.environment, PORT: String(port) } };
}

test("from the first moment that the port is open, every request is answered and taken once", async () => {
  const { slack, port, url, environment } = await connected();
  const general = slack.snapshot().channels.find(({ name }) => name === "general");
  const commands = sendAtIntervals(40, (number) => {
    const fields = { ...slackCommand(`status no-such-run-${number}-x`), channel_id: general?.id ?? "" };
    const body = new URLSearchParams(fields).toString();
    return post(`${url}/slack/events`, body, slackHeaders(body, { type: form }));
  });
  const comments = sendAtIntervals(40, () => {
    const body = JSON.stringify(gitHubComment(1));
    return post(`${url}/github/webhooks`, body, gitHubHeaders(body));
  });
  const probes = sendAtIntervals(40, async () => (await fetch(`${url}/healthz`)).status);
  await sleep(100);
  const bot = await startBot(environment);
  expect(await bot.url).toBe(`http://127.0.0.1:${port}`);
  await sleep(1_000);
  const [told, commented] = await Promise.all([commands.stop(), comments.stop(), probes.stop()]);

  const taken = expectNoGap(told, 200);
  expectNoGap(commented, 200);
  const answered = (number: number): number =>
    (slack.snapshot().ephemerals.UALICE ?? []).filter((message) =>
      message.text.includes(`no-such-run-${number}-x`),
    ).length;
  await eventually("all private answers", () => taken.every((number) => answered(number) > 0));
  expect(taken.map(answered)).toEqual(taken.map(() => 1));
});

test("healthz is not ok before events are taken", async () => {
  const { url, environment } = await connected();
  const seen: { readonly health: number; readonly taken: Answer }[] = [];
  const bot = await startBot(environment);
  let isUp = false;
  void bot.url.then(() => {
    isUp = true;
  });
  while (!isUp) {
    const health = await fetch(`${url}/healthz`).then(
      ({ status }) => status,
      () => 0,
    );
    if (health === 0) continue;
    const body = JSON.stringify(gitHubComment(1));
    seen.push({ health, taken: await post(`${url}/github/webhooks`, body, gitHubHeaders(body)) });
  }
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.every(({ health, taken }) => taken === 200 && (health === 200 || health === 503))).toBe(true);
});

test("from the first moment that its port is open, the service alone answers every request", async () => {
  const port = await freePort();
  const listing = sendAtIntervals(40, () => {
    const headers = { authorization: "Bearer key-of-the-test" };
    return fetch(`http://127.0.0.1:${port}/api/v1/agent/runs`, { headers }).then(
      ({ status }) => status,
      (error: unknown) => {
        throw error instanceof Error ? error.cause : error;
      },
    );
  });
  await sleep(100);
  const service = await startBot(
    { PORT: String(port), AGENT_API_KEY: "key-of-the-test" },
    { scriptArgs: ["service"] },
  );
  await service.url;
  await sleep(1_000);
  expectNoGap(await listing.stop(), 200);
});

test("a start that fails ends with its sentence while requests wait, and they are answered", async () => {
  const { url, environment } = await connected();
  const cwd = await freshFolder();
  // A folder in the place of its database keeps the embedded service from starting, after the port is open.
  await mkdir(join(cwd, "data/service/runs.db"), { recursive: true });
  const requests = sendAtIntervals(5, () => {
    const body = JSON.stringify(gitHubComment(1));
    return post(`${url}/github/webhooks`, body, gitHubHeaders(body));
  });
  const bot = await startBot({ ...environment, LOG_LEVEL: "error" }, { cwd });
  expect(await bot.ended).toBe(1);
  expect(bot.stderr()).toMatch(/^The bot could not start: a folder is where a file should be [^\n]+\n$/);
  const answers = await requests.stop();
  expect(answers).toContain(503);
  // A connection that the process had not yet read from when it ended is cut.
  const failures: readonly Answer[] = [503, "ECONNREFUSED", "ECONNRESET"];
  expect(answers.filter((answer) => !failures.includes(answer))).toEqual([]);
});

test("in Socket Mode the bot is announced once it is connected", async () => {
  const { slack, environment } = await connected(true);
  const bot = await startBot(environment);
  await bot.url;
  expect(slack.connections).toBe(1);
  expect(bot.stdout()).toContain("Socket Mode\n");
});

test("if Slack does not answer, the greeting says that the bot is still connecting", async () => {
  const silent = createServer(() => {});
  const { url: silentUrl, close } = await listen(silent);
  onTestFinished(close);
  const { environment } = await connected(true);
  const bot = await startBot({ ...environment, SLACK_API_URL: `${silentUrl}/api/` });
  await Promise.all([bot.url, once(silent, "request")]);
  expect(bot.stdout()).toContain("Socket Mode, still connecting\n");
});
