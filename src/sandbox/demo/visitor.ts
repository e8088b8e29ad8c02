/** Somebody who uses the sandbox as its page does: over HTTP, by acts and server-sent events. */
import { createObserver } from "./observer.ts";
import { actAnswer, type SeenGitHub, type SeenSlack, seenGitHub, seenSlack } from "./seen.ts";
import { readEvents } from "./server-events.ts";
import type { Transcript } from "./transcript.ts";

export interface Seen {
  readonly slack: SeenSlack;
  readonly github: SeenGitHub;
}

export interface Visitor extends AsyncDisposable {
  /** Rejects with a sentence if it was not taken. Resolves with the number of an issue that was opened. */
  act(path: string, body: object): Promise<number | null>;
  /** Resolves with what `find` answers once that is not undefined; rejects if that takes too long. */
  until<T>(what: string, find: (seen: Seen) => T | undefined): Promise<T>;
}

/** Nothing in the story takes longer than some seconds; a slow machine may need several times that. */
const patienceMs = 45_000;

/** `url`: where the bot listens. */
export async function createVisitor(
  url: string,
  transcript: Transcript,
  signal: AbortSignal,
): Promise<Visitor> {
  const leaving = new AbortController();
  const observer = createObserver(transcript);
  const waiting = new Set<() => void>();
  const seen: { slack: SeenSlack | null; github: SeenGitHub | null } = { slack: null, github: null };

  const response = await fetch(`${url}/sandbox/events`, {
    signal: AbortSignal.any([signal, leaving.signal]),
  });
  if (!response.ok || response.body === null) throw new Error(`the sandbox answered ${response.status}`);
  const listening = readEvents(response.body, (name, data) => {
    if (name === "slack") {
      seen.slack = seenSlack.parse(JSON.parse(data));
      observer.slack(seen.slack);
    }
    if (name === "github") {
      seen.github = seenGitHub.parse(JSON.parse(data));
      observer.gitHub(seen.github);
    }
    for (const look of [...waiting]) look();
  });
  // The end of the stream is seen by whoever waits: nothing comes any more.
  const ended = listening.catch(() => undefined);

  return {
    async act(path, body) {
      const answer = await fetch(`${url}/sandbox/act/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal,
      });
      const told = actAnswer.parse(await answer.json());
      if (!told.ok) throw new Error(`the sandbox did not take ${path}: ${told.error}`);
      const { status } = told;
      if (status !== null && (status < 200 || status > 299)) {
        throw new Error(`the bot answered ${path} with HTTP ${status}`);
      }
      return told.number ?? null;
    },
    async until(what, find) {
      const found = Promise.withResolvers<NonNullable<ReturnType<typeof find>>>();
      const look = (): void => {
        const { slack, github } = seen;
        if (slack === null || github === null) return;
        const value = find({ slack, github });
        if (value !== undefined && value !== null) found.resolve(value);
      };
      const late = setTimeout(
        () => found.reject(new Error(`${what} did not come within ${patienceMs / 1000} s`)),
        patienceMs,
      );
      const gone = (): void => found.reject(new Error(`the bot was gone before ${what} came`));
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
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await ended;
    },
  };
}
