/** A run's page, its events and its files, opened with the key in a session link. */
import type { Run } from "#service/run/run-document.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { fileResponse } from "./session-file.ts";
import {
  downloadKey,
  linkKey,
  opens,
  rightOf,
  type SessionLinks,
  type SessionRight,
} from "./session-keys.ts";
import { createSessionPage } from "./session-page.ts";
import { createSessionStreams, knownOf, type SessionStreamOptions, streamHeaders } from "./session-stream.ts";
import { sessionView } from "./session-view.ts";

/** The options of the sessions. */
export interface SessionOptions extends SessionStreamOptions {
  /** The rights of all links, earlier ones included. */
  readonly links: SessionLinks;
  /** The session's address without a key. */
  readonly address: (runId: string) => string;
}

/** How long the address of a download holds. */
const downloadMs = 3_600_000;
/** The name of the transcript among a run's downloads; files are named by their uids, which differ from it. */
export const transcript = "transcript";

/** The sessions of all runs. Missing runs and files, and too many streams, are refused. */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(options: SessionOptions) {
  const { runs, live, links, address, now } = options;
  const streams = createSessionStreams(options);
  const render = createSessionPage();
  const download = ({ sessionKey }: Run, what: string): { readonly key: string; readonly until: number } => {
    const until = now() + downloadMs;
    return { key: downloadKey(sessionKey, what, until), until };
  };
  return {
    /** The run's link for people, with a key. */
    link: ({ id, sessionKey }: Pick<Run, "id" | "sessionKey">): string =>
      `${address(id)}?key=${encodeURIComponent(linkKey(sessionKey, links))}`,
    /** The rights that the key gives to the run; "none" also if there is no such run. */
    right(runId: string, key: string): SessionRight {
      const run = runs.get(runId);
      return run === null ? "none" : rightOf(run.sessionKey, key, links);
    },
    /** The key of a download of the run, and until when it holds, in milliseconds since the epoch. */
    download,
    /** Whether the key opens the run's download now. */
    opens(runId: string, key: string, what: string): boolean {
      const run = runs.get(runId);
      return run !== null && opens(run.sessionKey, key, what, now());
    },
    /** The address of one of the run's files for anybody, and until when it holds. */
    fileLink(run: Run, uid: string): { readonly url: string; readonly until: number } {
      const { key, until } = download(run, uid);
      return { url: `${address(run.id)}/artifacts/${encodeURIComponent(uid)}?key=${key}`, until };
    },
    async page(runId: string, right: SessionLinks): Promise<Result<Response>> {
      const document = await runs.read(runId);
      if (document === null) return unknownSession;
      const view = sessionView(document, live(runId));
      return { ok: true, value: await render(view, right, knownOf(document)) };
    },
    /** One of the run's files, as a download. */
    async file(runId: string, uid: string, method: string): Promise<Result<Response>> {
      const file = runs.get(runId)?.artifacts.find((each) => each.kind === "file" && each.uid === uid);
      const response = file?.kind === "file" ? await fileResponse(file.path, file.name, method) : null;
      if (response === null) return refused("resource_not_found", "This file no longer exists.");
      return { ok: true, value: response };
    },
    /** Server-sent events with every change after `known`: the id of an event, or "" for everything. */
    events(runId: string, known: string, method: string): Result<Response> {
      // The response to a HEAD request has no body that its reader could end.
      if (method === "HEAD") return { ok: true, value: new Response(null, { headers: streamHeaders }) };
      return streams.open(runId, known);
    },
    /** Ends the streams. */
    stop: streams.stop,
  };
}

/** The refusal of a wrong key, which does not reveal whether there is such a run. */
export const unknownSession = refused("resource_not_found", "There is no such session.");
