/** A visitor who uses the sandbox as its page does: over HTTP, by acts and server-sent events. */
import { EventEmitter, once } from "node:events";
import type { ActAnswer } from "#sandbox/acts/acts.ts";
import type { GitHubState, SlackState } from "#sandbox/shown/page-state.ts";
import { createObserver } from "./observer.ts";
import { readEvents } from "./server-events.ts";
import type { Transcript } from "./transcript.ts";

/** The page's state. */
export interface Seen {
  readonly slack: SlackState;
  readonly github: GitHubState;
}

/** See `createVisitor`. */
export type Visitor = Awaited<ReturnType<typeof createVisitor>>;

/** A step of the story takes a few seconds; a slow machine may need several times that. */
const patienceMs = 45_000;

/** Connects to the sandbox of the bot at `url`. Disposing disconnects. */
export async function createVisitor(url: string, transcript: Transcript, signal: AbortSignal) {
  const leaving = new AbortController();
  const observer = createObserver(transcript);
  const news = new EventEmitter();
  const seen: { slack: SlackState | null; github: GitHubState | null } = { slack: null, github: null };

  const response = await fetch(`${url}/sandbox/events`, {
    signal: AbortSignal.any([signal, leaving.signal]),
  });
  if (!response.ok || response.body === null) throw new Error(`the sandbox answered ${response.status}`);
  const listening = readEvents(response.body, (name, data) => {
    if (name === "slack") {
      const slack: SlackState = JSON.parse(data);
      seen.slack = slack;
      observer.slack(slack);
    }
    if (name === "github") {
      const github: GitHubState = JSON.parse(data);
      seen.github = github;
      observer.gitHub(github);
    }
    news.emit("news");
  });
  const gone = new AbortController();
  const ended = listening.catch(() => undefined).finally(() => gone.abort());

  return {
    /** Resolves with the number of the issue that was opened, if any; rejects with a sentence on failure. */
    async act(path: string, body: object): Promise<number | null> {
      const answer = await fetch(`${url}/sandbox/act/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal,
      });
      const result: ActAnswer = await answer.json();
      if (!result.ok) throw new Error(`the sandbox refused ${path}: ${result.error}`);
      const { status } = result;
      if (status !== null && (status < 200 || status > 299)) {
        throw new Error(`the bot answered ${path} with HTTP ${status}`);
      }
      return result.number ?? null;
    },
    /** Resolves with the first result of `find` that is not undefined; rejects if there is none in time. */
    async until<T>(what: string, find: (seen: Seen) => T | undefined): Promise<T> {
      const late = AbortSignal.timeout(patienceMs);
      const limit = AbortSignal.any([late, gone.signal]);
      for (;;) {
        const { slack, github } = seen;
        const value = slack === null || github === null ? undefined : find({ slack, github });
        if (value !== undefined) return value;
        await once(news, "news", { signal: limit }).catch((cause) => {
          const reason = late.aborted ? `within ${patienceMs / 1000} s` : "before the bot ended";
          throw new Error(`${what} did not appear ${reason}`, { cause });
        });
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      leaving.abort();
      await ended;
    },
  };
}
