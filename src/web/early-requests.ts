/** Requests that arrive before the site is open wait for it. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { discardRest } from "#base/discard-rest.ts";
import { type Listener, sendJson } from "./router.ts";

/** The wait of senders that are not known better: most programs give an answer at least ten seconds. */
const usualWaitMs = 10_000;
/** The time left to take in a request that waited as long as it may. */
const marginMs = 500;

/** The requests that wait. */
export interface EarlyRequests {
  /** Lets the request wait; it gets a 503 with `Retry-After` shortly before its sender gives up. */
  readonly hold: (request: IncomingMessage, response: ServerResponse) => void;
  /** Passes all waiting requests to the listener, the first first; those whose senders have left are dropped. */
  release(listener: Listener): void;
  /** Refuses the waiting requests, and each one that is held later, with the 503; resolves when they are answered. */
  refuse(): Promise<void>;
}

/** Far more than Slack and GitHub send in a second; the bodies of those that wait take memory. */
const mostWaiting = 500;

/** `answerWithinMs` is how long senders wait for an answer, in milliseconds, by path; 10,000 if absent. */
export function createEarlyRequests(answerWithinMs: Readonly<Record<string, number>>): EarlyRequests {
  const waiting = new Map<ServerResponse, (listener: Listener) => void>();
  let isRefusing = false;

  return {
    hold(request, response) {
      if (isRefusing || waiting.size >= mostWaiting) return refuse(request, response);
      const arrivedMs = performance.now();
      const path = request.url?.split("?", 1)[0] ?? "";
      const leave = (): void => {
        clearTimeout(timer);
        waiting.delete(response);
      };
      const pass = (listener: Listener): void => {
        leave();
        response.off("close", leave);
        void listener(request, response, performance.now() - arrivedMs);
      };
      const timer = setTimeout(() => pass(refuse), (answerWithinMs[path] ?? usualWaitMs) - marginMs);
      waiting.set(response, pass);
      response.once("close", leave);
    },
    release(listener) {
      for (const pass of [...waiting.values()]) pass(listener);
    },
    async refuse() {
      isRefusing = true;
      const answered = [...waiting.keys()].map((response) => once(response, "close"));
      for (const pass of [...waiting.values()]) pass(refuse);
      await Promise.all(answered);
    },
  };
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => discardRest(request));
  response.setHeader("retry-after", "1");
  sendJson(response, 503, { error: "the bot is starting: try again in a moment" });
}
