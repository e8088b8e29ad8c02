/** What people can see and do with a run's session link. */

import type { Run } from "#service/run/run-document.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { fileResponse } from "./session-file.ts";
import { linkKey, rightOf, type SessionLinks, type SessionRight } from "./session-keys.ts";
import { createSessionPage } from "./session-page.ts";
import { createSessionStreams, knownOf, type SessionStreamOptions, streamHeaders } from "./session-stream.ts";
import { sessionView } from "./session-view.ts";

export interface SessionOptions extends SessionStreamOptions {
  /** What links allow from now on, those that were handed out before included. */
  readonly links: SessionLinks;
  /** Address under which the sessions are reached; no key. */
  readonly address: (runId: string) => string;
}

export interface Sessions {
  /** The link to tell people; it holds a key. */
  link(run: Pick<Run, "id" | "sessionKey">): string;
  /** What the key opens of the run; "none" also where there is no such run. */
  right(runId: string, key: string): SessionRight;
  page(runId: string, right: SessionLinks): Promise<Result<Response>>;
  /** A file that the run has left, whole, to be saved. */
  file(runId: string, uid: string, method: string): Promise<Result<Response>>;
  /** Server-sent events of all that changes from what `known` stands for; `known` is an event's id, or "". */
  events(runId: string, known: string, method: string): Result<Response>;
  /** Ends the streams. */
  stop(): void;
}

export function createSessions(options: SessionOptions): Sessions {
  const { runs, live, links, address } = options;
  const streams = createSessionStreams(options);
  const page = createSessionPage();
  return {
    link: ({ id, sessionKey }) => `${address(id)}?key=${encodeURIComponent(linkKey(sessionKey, links))}`,
    right(runId, key) {
      const run = runs.get(runId);
      return run === null ? "none" : rightOf(run.sessionKey, key, links);
    },
    async page(runId, right) {
      const document = await runs.read(runId);
      if (document === null) return unknownSession;
      const view = sessionView(document, live(runId));
      return { ok: true, value: await page.render(view, right, knownOf(document)) };
    },
    async file(runId, uid, method) {
      const left = runs.get(runId)?.artifacts.find((each) => each.kind === "file" && each.uid === uid);
      const response = left?.kind === "file" ? await fileResponse(left.path, left.name, method) : null;
      if (response === null) return refused("resource_not_found", "There is no such file any more.");
      return { ok: true, value: response };
    },
    events(runId, known, method) {
      // The answer to a HEAD has no body that a reader could end.
      if (method === "HEAD") return { ok: true, value: new Response(null, { headers: streamHeaders }) };
      return streams.open(runId, known);
    },
    stop: streams.stop,
  };
}

export const unknownSession = refused("resource_not_found", "There is no such session.");
