/** Defects of the real adapters, planted between them and their platforms. */
import type { PlantedFetch } from "#test/simulation/world/adapters/adapter.ts";
import { calmTroubles } from "#test/simulation/world/troubles.ts";
import type { Planted } from "./planted.ts";

const lags = { ...calmTroubles.lags, slack: 15_000, github: 30_000 };
const cut = { adapters: true, cutRate: 0.5, actsMs: 60_000 };

interface Call {
  readonly method: string;
  readonly path: string;
}

/** Replaces the answers of the calls that `isMeant`; the request is made only if `answer` makes it. */
const answering =
  (
    isMeant: (call: Call) => boolean,
    answer: (make: () => Promise<Response>) => Promise<Response>,
  ): PlantedFetch =>
  (call) =>
  (input, init) => {
    const meant = isMeant({ method: init?.method ?? "GET", path: new URL(String(input)).pathname });
    return meant ? answer(() => call(input, init)) : call(input, init);
  };

const isPost = ({ method, path }: Call): boolean =>
  path.endsWith("/chat.postMessage") || (method === "POST" && path.endsWith("/comments"));
const isSearch = ({ method, path }: Call): boolean =>
  /\/conversations\.(history|replies)$/.test(path) || (method === "GET" && path.endsWith("/comments"));

const nothingFound = (): Promise<Response> =>
  Promise.resolve(Response.json({ ok: true, messages: [], channels: [] }));

export const adapters: readonly Planted[] = [
  {
    name: "an adapter's client repeats a post by itself",
    promise: 4,
    weather: cut,
    breaks: "a message is posted once",
    plant: { fetch: answering(isPost, (make) => make().catch(make)) },
  },
  {
    name: "an adapter does not see its own posts",
    promise: 4,
    weather: cut,
    breaks: "a message is posted once",
    plant: {
      fetch: answering(isSearch, async (make) => {
        const answer = await make();
        const text = (await answer.text())
          .replaceAll("agent_runs_bot", "x")
          .replaceAll("<!-- agent-runs", "<!-- x");
        return new Response(text, answer);
      }),
    },
  },
  {
    name: "an adapter repeats an uncertain post at once",
    promise: 4,
    weather: { ...cut, lags },
    breaks: "a message is posted once",
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: (effect, { uncertain }) => platform.perform(effect, { uncertain, settlesInMs: 0 }),
      }),
    },
  },
  {
    name: "an adapter does not delete twins",
    promise: 4,
    weather: { ...cut, lags: { ...lags, slack: 90_000, github: 180_000 } },
    breaks: "a twin is ended within the hour",
    plant: {
      fetch: answering(
        ({ method, path }) => method === "DELETE" || path.endsWith("/chat.delete"),
        () => Promise.resolve(Response.json({ ok: true })),
      ),
    },
  },
  {
    name: "an adapter adds state labels and removes none",
    promise: 5,
    weather: { adapters: true },
    breaks: "a label shows the last state",
    plant: {
      fetch: (call) => (input, init) =>
        call(input, init?.method === "PUT" ? { ...init, method: "POST" } : init),
    },
  },
  {
    name: "an adapter takes people's labels off",
    from: 44,
    promise: 5,
    weather: { adapters: true },
    breaks: "people's labels stay",
    plant: {
      fetch: (call) => (input, init) =>
        call(
          input,
          init?.method === "PUT" ? { ...init, body: String(init.body).replace('"agent",', "") } : init,
        ),
    },
  },
  {
    name: "an adapter edits nothing",
    promise: 5,
    weather: { adapters: true },
    breaks: "a card shows the last state",
    plant: {
      fetch: answering(
        ({ method, path }) => method === "PATCH" || path.endsWith("/chat.update"),
        () => Promise.resolve(Response.json({ ok: true, id: 1 })),
      ),
    },
  },
  {
    name: "an adapter reads no channels back",
    promise: 10,
    features: ["catchUp"],
    when: ({ catchUpMs, crashSteps }) => catchUpMs !== null && crashSteps.size > 0,
    weather: { adapters: true, awayRate: 1 },
    breaks: "no silence",
    plant: {
      fetch: answering(
        ({ path }) => path.endsWith("/conversations.history") || path.endsWith("/users.conversations"),
        nothingFound,
      ),
    },
  },
];
