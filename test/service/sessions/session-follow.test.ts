/** The part of the page's script that talks to the service. */
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { listen } from "#test/support/listen.ts";
import { serving } from "#test/support/service/serving.ts";
import { linkOf } from "#test/support/service/session-reader.ts";

interface Message {
  readonly keep?: number;
  readonly count: number;
  readonly view?: { readonly state: string };
}
interface FollowOptions {
  readonly address: string;
  readonly key: string;
  readonly known: string;
  onMessage(message: Message): void;
  onLink(link: string): void;
  restMs(): number;
  pauseMs?(failures: number): number;
}
type Posted = { readonly kind: "done" | "unknown" } | { readonly kind: "refused"; readonly why: string };
interface Script {
  follow(options: FollowOptions): { restart(): void; stop(): void };
  post(address: string, key: string, body?: unknown): Promise<Posted>;
}

/** The module, typed as the test uses it. */
const script: Script = await import(join(import.meta.dirname, "../../../src/service/page/follow.js"));

function following(address: string, key: string, options: Partial<FollowOptions> = {}) {
  const messages: Message[] = [];
  const links: string[] = [];
  const follower = script.follow({
    address,
    key,
    known: "",
    onMessage: (message) => messages.push(message),
    onLink: (link) => {
      if (links.at(-1) !== link) links.push(link);
    },
    restMs: () => 0,
    pauseMs: () => 50,
    ...options,
  });
  onTestFinished(follower.stop);
  return { ...follower, messages, links, state: () => messages.findLast(({ view }) => view)?.view?.state };
}

async function standIn(listener: RequestListener): Promise<string> {
  const { url, close } = await listen(createServer(listener));
  onTestFinished(close);
  return `${url}/`;
}

test("the page continues from its last event after the service was restarted", async () => {
  const folder = await freshFolder();
  const before = await serving({ folder, command: "cat; sleep 20" });
  const id = await before.api.create({ prompt: "x" });
  await before.api.until(id, "INPROGRESS");
  const { path, key } = await linkOf(before.api, id);
  const page = following(`${path}/events`, key);
  await eventually("the state", () => page.state() === "INPROGRESS");
  await before.stop();
  await eventually("the loss", () => page.links.at(-1) === "lost");

  await serving({ folder, command: "cat", port: Number(new URL(path).port) });
  await eventually("the state after the restart", () => page.state() === "ERROR");
  // A service that is stopping may also turn the page away before it is gone.
  expect(page.links.filter((link) => link !== "full").slice(0, 2)).toEqual(["live", "lost"]);
  expect(page.links.at(-1)).toBe("live");
  expect(page.messages.find(({ keep }) => keep !== undefined && keep > 0)).toMatchObject({ keep: 1 });
});

test("the page stops when the session is gone and waits while too many people watch", async () => {
  const asked: number[] = [];
  const address = await standIn((_, response) => {
    asked.push(performance.now());
    if (asked.length > 2) response.writeHead(404).end();
    else response.writeHead(asked.length === 1 ? 429 : 500, { "retry-after": "0" }).end();
  });
  const page = following(address, "key");
  await eventually("the end", () => page.links.at(-1) === "gone");
  expect(page.links).toEqual(["full", "lost", "gone"]);
  page.restart();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(asked).toHaveLength(3);
});

test("the page pauses longer after each failure and reconnects at once on request", async () => {
  let asked = 0;
  const address = await standIn((_, response) => {
    asked++;
    response.destroy();
  });
  const failures: number[] = [];
  const page = following(address, "key", {
    pauseMs(count) {
      failures.push(count);
      return count < 3 ? 20 : 1_000_000;
    },
  });
  await eventually("the third failure", () => failures.length === 3);
  expect([asked, failures]).toEqual([3, [1, 2, 3]]);
  page.restart();
  await eventually("another try", () => asked === 4);
});

test("a hidden page closes its stream and checks again later", async () => {
  const { api } = await serving({ command: "cat" });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  const { path, key } = await linkOf(api, id);
  let isHidden = true;
  const page = following(`${path}/events`, key, { restMs: () => (isHidden ? 100 : 0) });
  await eventually("three looks", () => page.messages.length >= 3);
  expect(page.messages.every(({ keep }) => keep !== undefined)).toBe(true);
  isHidden = false;
  page.restart();
  await api.followUp(id, "more");
  await eventually("what came by the stream", () =>
    page.messages.some(({ keep, count }) => keep === undefined && count > 2),
  );
});

test("after an invalid message the page loads everything again", async () => {
  const known: (string | undefined)[] = [];
  const address = await standIn((request, response) => {
    known.push(String(request.headers["last-event-id"] ?? ""));
    response.writeHead(200).write('id: 1.a\ndata: {"count":1}\n\n');
    if (known.length === 1) response.write("id: 1.b\ndata: nonsense\n\n");
  });
  const page = following(address, "key", { known: "1.z" });
  await eventually("the second beginning", () => known.length === 2);
  expect(known).toEqual(["1.z", ""]);
  await eventually("the link", () => page.links.at(-1) === "live");
});

test("a sent request is reported as done, refused with a reason, or unknown", async () => {
  const { api } = await serving({ command: "cat", sessionLinks: "steer" });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  const { path, key } = await linkOf(api, id);
  expect(await script.post(`${path}/followups`, key, { message: "more" })).toEqual({ kind: "done" });
  await api.until(id, "SUCCEEDED");
  expect(await script.post(`${path}/cancel`, key)).toEqual({
    kind: "refused",
    why: "The run has already ended.",
  });
  const broken = await standIn((request, response) => {
    if (request.url === "/gone") return response.destroy();
    const problem = { type: "urn:agent-runs:problem/internal_error", detail: "It may be done or not." };
    if (request.url === "/defect") response.writeHead(500).end(JSON.stringify(problem));
    else response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
  });
  for (const address of [`${broken}gone`, `${broken}defect`, broken]) {
    expect(await script.post(address, key, { message: "x" })).toEqual({ kind: "unknown" });
  }
});
