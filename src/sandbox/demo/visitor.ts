/** A visitor who uses the sandbox as its page does: over HTTP, by acts and server-sent events. */
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

/** `url` is the bot's address. Disposing ends the visit. */
export async function createVisitor(url: string, transcript: Transcript, signal: AbortSignal) {
  const leaving = new AbortController();
  const observer = createObserver(transcript);
  const waiting = new Set<() => void>();
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
    for (const look of [...waiting]) look();
  });
  // When the stream ends, `until` gives up.
  const ended = listening.catch(() => undefined);

  return {
    /** Resolves with the number of the issue that was opened, if any; rejects with a sentence on failure. */
    async act(path: string, body: object): Promise<number | null> {
      const answer = await fetch(`${url}/sandbox/act/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal,
      });
      const told: ActAnswer = await answer.json();
      if (!told.ok) throw new Error(`the sandbox refused ${path}: ${told.error}`);
      const { status } = told;
      if (status !== null && (status < 200 || status > 299)) {
        throw new Error(`the bot answered ${path} with HTTP ${status}`);
      }
      return told.number ?? null;
    },
    /** Resolves with the first result of `find` that is not undefined; rejects if there is none in time. */
    async until<T>(what: string, find: (seen: Seen) => T | undefined): Promise<T> {
      const found = Promise.withResolvers<T>();
      const look = (): void => {
        const { slack, github } = seen;
        if (slack === null || github === null) return;
        const value = find({ slack, github });
        if (value !== undefined) found.resolve(value);
      };
      const late = setTimeout(
        () => found.reject(new Error(`${what} did not appear within ${patienceMs / 1000} s`)),
        patienceMs,
      );
      const gone = (): void => found.reject(new Error(`the bot ended before ${what} appeared`));
      void ended.then(gone);
      waiting.add(look);
      look();
      try {
        return await found.promise;
      } finally {
        clearTimeout(late);
        waiting.delete(look);
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      leaving.abort();
      await ended;
    },
  };
}
