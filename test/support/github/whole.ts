/** The real engine, core and adapter against the stand-in over HTTP, with an API in memory. */
import { setTimeout as delay } from "node:timers/promises";
import { createDecide } from "#core/decide/decide.ts";
import { createEngine, type Engine } from "#engine/engine.ts";
import { github as gitHub } from "#github/platform.ts";
import type { Clock } from "#ports.ts";
import { rules } from "#test/support/core/story.ts";
import { createMemoryStore } from "#test/support/engine/memory-store.ts";
import { StandInApi } from "#test/support/engine/stand-in-api.ts";
import { eventually } from "#test/support/eventually.ts";
import { recordingLog } from "#test/support/logs.ts";
import { repo, type StartOptions, start } from "./start.ts";

const clock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  random: Math.random,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

export type Whole = Awaited<ReturnType<typeof startWhole>>;

/** Starts everything, with an issue by bob. `store`: the threads of an earlier bot. */
export async function startWhole(
  options: StartOptions & { readonly store?: ReturnType<typeof createMemoryStore> },
) {
  const { store = createMemoryStore() } = options;
  let engine: Engine | undefined;
  const github = await start({
    ...options,
    realTime: true,
    accept: (event) => engine?.accept(event) ?? Promise.reject(new Error("the bot is not running")),
  });
  const api = new StandInApi(clock);
  engine = createEngine({
    store,
    agentRuns: api,
    transcripts: api,
    factories: api,
    platforms: [github.platform],
    decide: createDecide({ ...rules, runName: "bot", platforms: { github: gitHub.facts } }),
    clock,
    log: recordingLog().log,
    runName: "bot",
    pollIntervalMs: 50,
    limits: { settlingMs: {}, paced: false },
  });
  await engine.start();
  const { standIn } = github;
  await standIn.openIssue({ user: "bob", repo, title: "Broken" });
  const ours = () => github.comments().filter(({ body }) => body.startsWith("<!-- agent-runs-bot "));

  return {
    ...github,
    api,
    store,
    ours,
    /** The bot's comments that contain the text. */
    ourWith: (text: string) =>
      eventually(`“${text}”`, () => ours().filter(({ body }) => body.includes(text))[0]),
    label: (issue = 1) => standIn.label({ user: "alice", repo, issue, label: "agent" }),
    comment: (body: string, issue = 1, where = repo) =>
      standIn.comment({ user: "alice", repo: where, issue, body }),
    labels: (number = 1) => standIn.snapshot().issues.find((issue) => issue.number === number)?.labels ?? [],
    /** The writes so far that concern issues and labels. */
    writes: () => standIn.calls.filter(({ method, path }) => method !== "GET" && path.startsWith("/repos/")),
    /** Resolves with the id of the run that began after `before` others. */
    run: (before = 0) => eventually("a run", () => [...api.runs.keys()][before]),
    quiet: () =>
      eventually("quiet", () => engine.status().pendingEffects === 0 && engine.status().inFlight === 0),
    /** Resolves when everything is done but what is held back. */
    settled: () => delay(700),
    async [Symbol.asyncDispose]() {
      await engine.stop();
      await github[Symbol.asyncDispose]();
    },
  };
}
