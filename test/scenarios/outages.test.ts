import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { expect, type TestContext, test } from "vitest";
import type { Connection } from "#sandbox/github/stand-in.ts";
import { type ApiFault, createWorld, written } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";
import { listen } from "#test/support/listen.ts";

/** The ways in which a system that is down fails requests, one after the other. */
const troubles = ["cut", "500", "nonsense"] as const;
type Trouble = (typeof troubles)[number];
/** Long enough for second tries. The simulation's outages last up to a quarter of an hour. */
const troubleMs = 2_000;
/** Tries of one effect in such an outage and at its end: each wait is twice as long as the one before. */
const mostTries = 6;

interface Seen {
  readonly method: string;
  readonly path: string;
}

/** A proxy in front of a platform: it records requests, and in an outage it forwards none. */
interface Door {
  trouble: Trouble | null;
  readonly seen: Seen[];
}

async function openDoor(
  { onTestFinished }: TestContext,
  fetch: (request: Request, connection: Connection) => Promise<Response>,
) {
  const door: Door = { trouble: null, seen: [] };
  const server = createServer(
    getRequestListener(async (request, connection) => {
      door.seen.push({ method: request.method, path: new URL(request.url).pathname });
      switch (door.trouble) {
        case null:
          return fetch(request, connection as Connection);
        case "cut":
          (connection as Connection).incoming?.socket.destroy();
          return new Response(null);
        case "500":
          return new Response("<html>trouble</html>", { status: 500 });
        case "nonsense":
          return new Response("<html>maintenance</html>", { headers: { "content-type": "text/html" } });
        default:
          return door.trouble satisfies never;
      }
    }),
  );
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { door, url };
}

/** A bot behind proxies to Slack and GitHub, with the actions of people and platforms. */
async function begin(context: TestContext) {
  const environment: Record<string, string> = {};
  const world = await createWorld({ environment });
  context.onTestFinished(() => world.close());
  const slack = await openDoor(context, (request) => world.slack.fetch(request));
  const github = await openDoor(context, (request, connection) => world.github.fetch(request, connection));
  environment.SLACK_API_URL = `${slack.url}/api/`;
  environment.GITHUB_API_URL = github.url;
  await world.start();

  /** Makes the API fail every request. `turn` chooses the kind of failure, `heal` ends it. */
  function failApi(): { turn(trouble: Trouble): void; heal(): void } {
    const faults = ["GET", "POST"].map((method) => {
      const fault: { -readonly [Key in keyof ApiFault]: ApiFault[Key] } = {
        method,
        path: /./,
        times: Number.POSITIVE_INFINITY,
        when: "before",
      };
      world.failApi(fault);
      return fault;
    });
    return {
      turn(trouble) {
        for (const fault of faults) {
          if (trouble === "cut") delete fault.status;
          else Object.assign(fault, { status: trouble === "500" ? 500 : 200, body: { nonsense: true } });
        }
      },
      heal() {
        for (const fault of faults) fault.method = "none";
      },
    };
  }

  /** Waits until `/readyz` reports the named system, and no other, as down. */
  async function onlyThisIsDown(name: "api" | "slack" | "github"): Promise<void> {
    const body = await eventually(`${name} to be named`, async () => {
      const response = await fetch(`${world.botUrl()}/readyz`);
      const seen = (await response.json()) as Record<string, string>;
      return response.status === 503 && seen[name] !== "ok" ? seen : null;
    });
    const others = ["store", "api", "slack", "github"].filter((other) => other !== name);
    expect(others.map((other) => `${other} ${body[other]}`)).toEqual(others.map((other) => `${other} ok`));
  }

  const slash = (text: string) =>
    world.slack.slash({ user: "alice", channel: "general", text: `run ${text}` });
  const label = async (title: string): Promise<{ issue: number; status: number | null | undefined }> => {
    const { number } = await world.github.openIssue({ user: "bob", repo: "octo/app", title, body: "" });
    const issue = { user: "alice", repo: "octo/app", issue: number };
    const { delivery } = await world.github.label({ ...issue, label: "agent" });
    return { issue: number, status: delivery?.status };
  };
  const cardsOf = (text: string) => world.cards("general").filter((card) => written(card).includes(text));
  const cardOf = (text: string) => eventually(`the card of “${text}”`, () => cardsOf(text)[0]);
  const endsIn = (ts: string) =>
    world
      .thread("general", ts)
      .filter(
        (message) => message.ts !== ts && message.user === "UBOT" && written(message).includes("succeeded"),
      );
  const ours = (issue: number) => world.comments(issue).filter(({ user }) => user === "agent-runs-bot");
  const answersOn = (issue: number) => ours(issue).filter(({ body }) => body.includes("I read this"));

  return {
    world,
    doors: { slack: slack.door, github: github.door },
    failApi,
    onlyThisIsDown,
    slash,
    label,
    cardsOf,
    cardOf,
    endsIn,
    ours,
    answersOn,
  };
}

test.concurrent("while the API is down requests are acked and cards say that they wait; afterwards each is delivered once, in order", async (context) => {
  const { world, failApi, onlyThisIsDown, slash, label, cardsOf, cardOf, endsIn, ours, answersOn } =
    await begin(context);
  await slash("take your time");
  const { ts } = await cardOf("take your time");
  await eventually("the run to work", async () => (await world.runs())[0]?.state === "INPROGRESS");

  const api = failApi();
  const downFrom = world.apiCalls.length;
  expect((await slash("asked in the dark")).status).toBe(200);
  const { issue, status } = await label("Labeled in the dark");
  expect(status).toBe(200);
  for (const text of ["the first word", "the second word", "the third word"]) {
    const said = await world.slack.say({ user: "alice", channel: "general", thread: ts, text });
    await world.slack.delivered();
    expect(said.statuses).toEqual([200]);
  }
  for (const trouble of troubles) {
    api.turn(trouble);
    await delay(troubleMs);
    await onlyThisIsDown("api");
  }
  await eventually("the card to say that it waits", () =>
    cardsOf("asked in the dark").some((card) => written(card).includes("Waiting:")),
  );
  await eventually("the comment to say that it waits", () =>
    ours(issue).some(({ body }) => body.includes("Waiting:")),
  );
  expect(cardsOf("asked in the dark").length).toBe(1);

  const upFrom = world.apiCalls.length;
  api.heal();
  const dark = await cardOf("asked in the dark");
  await eventually("the end in Slack", () => endsIn(dark.ts).length > 0);
  await eventually("the end on GitHub", () => answersOn(issue).length > 0);
  const followUps = () => world.apiCalls.slice(upFrom).filter(({ path }) => path.endsWith("/followups"));
  await eventually("all words to arrive", () => followUps().length >= 3);
  await delay(troubleMs);
  const words = followUps().map(({ body }) => /the (first|second|third) word/.exec(body)?.[1]);
  expect(words).toEqual(["first", "second", "third"]);
  const titles = (await world.runs()).map(
    ({ prompt }) => /take your time|asked in the dark|Labeled in the dark/.exec(prompt)?.[0],
  );
  expect(titles.toSorted()).toEqual(["Labeled in the dark", "asked in the dark", "take your time"]);
  expect([endsIn(dark.ts).length, answersOn(issue).length]).toEqual([1, 1]);
  // Two creates, and the first of the three follow-ups, which the others wait for.
  const posts = world.apiCalls.slice(downFrom, upFrom).filter(({ method }) => method === "POST");
  expect(posts.length).toBeLessThanOrEqual(3 * mostTries);
});

test.concurrent("while Slack is down its commands are acked and GitHub is unaffected; afterwards each card and result is posted once", async (context) => {
  const { world, doors, onlyThisIsDown, slash, label, cardsOf, cardOf, endsIn, answersOn } =
    await begin(context);
  doors.slack.trouble = "cut";
  const before = doors.slack.seen.length;
  const asked = ["one", "two", "three"].map((number) => `the dark ${number}`);
  for (const text of asked) expect((await slash(text)).status).toBe(200);
  const { issue } = await label("Meanwhile");
  for (const trouble of troubles) {
    doors.slack.trouble = trouble;
    await delay(troubleMs);
    await onlyThisIsDown("slack");
  }
  await eventually("GitHub's answer meanwhile", () => answersOn(issue).length === 1);
  expect(asked.flatMap(cardsOf)).toEqual([]);
  const chats = doors.slack.seen.slice(before).filter(({ path }) => path.includes("/chat."));
  expect(chats.length).toBeLessThanOrEqual(asked.length * mostTries);

  const upFrom = doors.slack.seen.length;
  doors.slack.trouble = null;
  for (const text of asked) {
    const { ts } = await cardOf(text);
    await eventually(`the end of “${text}”`, () => endsIn(ts).length > 0);
  }
  await delay(troubleMs);
  for (const text of asked) {
    expect(cardsOf(text).length).toBe(1);
    expect(cardsOf(text).flatMap(({ ts }) => endsIn(ts)).length).toBe(1);
  }
  expect((await world.runs()).length).toBe(asked.length + 1);
  const calls = doors.slack.seen.slice(upFrom);
  // For each: a lookup, the card, a few edits and the end.
  expect(calls.filter(({ path }) => path.includes("/chat.")).length).toBeLessThanOrEqual(
    asked.length * mostTries,
  );
});

test.concurrent("while GitHub is down its labels are acked and Slack is unaffected; afterwards each card and result is posted once", async (context) => {
  const { world, doors, onlyThisIsDown, slash, label, cardOf, endsIn, ours, answersOn } =
    await begin(context);
  doors.github.trouble = "cut";
  const before = doors.github.seen.length;
  const labeled = [await label("Dark one"), await label("Dark two"), await label("Dark three")];
  expect(labeled.map(({ status }) => status)).toEqual([200, 200, 200]);
  await slash("in the light");
  for (const trouble of troubles) {
    doors.github.trouble = trouble;
    await delay(troubleMs);
    await onlyThisIsDown("github");
  }
  const { ts } = await cardOf("in the light");
  await eventually("Slack's answer meanwhile", () => endsIn(ts).length === 1);
  expect(labeled.flatMap(({ issue }) => ours(issue))).toEqual([]);
  const of = (seen: readonly Seen[]) =>
    seen.filter(({ path }) => path.includes("/issues/") || path.includes("/permission"));
  expect(of(doors.github.seen.slice(before)).length).toBeLessThanOrEqual(labeled.length * 2 * mostTries);

  const upFrom = doors.github.seen.length;
  doors.github.trouble = null;
  for (const { issue } of labeled) await eventually("the end", () => answersOn(issue).length > 0);
  await delay(troubleMs);
  for (const { issue } of labeled) {
    expect(answersOn(issue).length).toBe(1);
    expect(ours(issue).filter(({ body }) => body.includes("Asked by")).length).toBe(1);
  }
  expect((await world.runs()).length).toBe(labeled.length + 1);
  // For each: a permission, comments, labels and edits.
  expect(of(doors.github.seen.slice(upFrom)).length).toBeLessThanOrEqual(labeled.length * 5 * mostTries);
});
