import type { Server } from "node:http";
import type { ApiContext } from "./api-method.ts";
import {
  createHttpSend,
  type Delivery,
  deliver,
  type Signature,
  signedRequest,
  slackRetryDelaysMs,
  type Try,
} from "./deliver.ts";
import { createFaults, type SlackFault } from "./faults.ts";
import { changedEvent, eventCallback, messageEvent, type Payload } from "./payloads.ts";
import { createPeople, type People } from "./people.ts";
import { createResponseUrls } from "./response-urls.ts";
import { createSocketMode } from "./socket-mode.ts";
import { answerCall, type SlackCall } from "./web-api.ts";
import { createWorkspace, emptyWorkspace, type SlackSnapshot } from "./workspace.ts";

export interface SlackStandInOptions {
  readonly signingSecret: string;
  readonly botToken: string;
  readonly appToken?: string;
  /** Where the app listens; asked at each delivery. */
  readonly eventsUrl: () => string;
  /** Milliseconds since the epoch; the system's clock if absent. */
  readonly now?: () => number;
  readonly initial?: SlackSnapshot;
  /** Where this stand-in is reached, without a slash at the end; may be set later. */
  readonly baseUrl?: string;
  /** Waits before the repetitions of an event, in milliseconds; Slack's own if absent. */
  readonly retryDelaysMs?: readonly number[];
  /** How long the app may take; Slack's three seconds if absent. */
  readonly answerWithinMs?: number;
}

/** A Slack of its own, on Slack's wire protocol, with one workspace in memory. */
export interface SlackStandIn extends People {
  /** Answers `…/api/<method>` and `…/respond/<token>`, whatever stands before. */
  fetch(request: Request): Promise<Response>;
  baseUrl: string;
  /** Serves Socket Mode there; from then on everything is delivered that way. Needs an app token. */
  attachSocketMode(server: Server, path: string): void;
  /** How many apps are connected by Socket Mode. */
  readonly connections: number;
  /** Has the connected apps connect anew. */
  refreshConnections(): void;
  /** Sends any text as one frame to every connected app, an envelope or not. */
  sayOnConnections(frame: string): void;
  /** Sends the app any body whatever, signed as told. */
  send(body: string, options?: { contentType?: string; signature?: Signature }): Promise<Response>;
  snapshot(): SlackSnapshot;
  /** Calls the listener after each change; the answer ends that. */
  subscribe(listener: () => void): () => void;
  /** Every Web API call so far, oldest first. */
  readonly calls: readonly SlackCall[];
  fail(fault: SlackFault): void;
  /** Resolves when everything that was said has been delivered. */
  delivered(): Promise<void>;
  /** Ends what is under way: repetitions and connections. */
  close(): void;
}

export function createSlackStandIn(options: SlackStandInOptions): SlackStandIn {
  const { signingSecret, botToken, appToken, eventsUrl, now = Date.now } = options;
  const { retryDelaysMs = slackRetryDelaysMs, answerWithinMs = 3_000 } = options;
  let baseUrl = options.baseUrl ?? "http://127.0.0.1";
  const workspace = createWorkspace(options.initial ?? emptyWorkspace, now);
  const faults = createFaults();
  const responseUrls = createResponseUrls();
  const calls: SlackCall[] = [];
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const overHttp = createHttpSend({ url: eventsUrl, signingSecret, now, answerWithinMs });
  const socketMode = createSocketMode({ appId: workspace.appId, answerWithinMs });

  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  }
  const deliverOne = (delivery: Delivery): Promise<readonly Try[]> =>
    track(deliver(socketMode.attached ? socketMode.send : overHttp, delivery, retryDelaysMs, closing.signal));
  const deliverEvent = (event: Payload, signature?: Signature): Promise<readonly Try[]> =>
    deliverOne({ kind: "event", payload: eventCallback(workspace, event, now()), signature });

  const context: ApiContext = {
    workspace,
    said(channelId, ts) {
      const channel = workspace.channel(channelId);
      const message = workspace.message(channelId, ts);
      if (channel !== undefined && message !== undefined) {
        void deliverEvent(messageEvent(workspace, channel, message));
      }
    },
    changed(channelId, before) {
      const channel = workspace.channel(channelId);
      const after = workspace.message(channelId, before.ts);
      if (channel !== undefined && after !== undefined) {
        void deliverEvent(changedEvent(workspace, channel, { before, after }));
      }
    },
  };
  const webApi = {
    ...context,
    botToken,
    appToken,
    now,
    record: (call: SlackCall) => calls.push(call),
    connectionUrl: () => {
      const path = socketMode.ticket();
      return path === null ? null : new URL(path, baseUrl).href.replace(/^http/, "ws");
    },
  };

  return {
    ...createPeople({
      workspace,
      now,
      deliver: deliverOne,
      deliverEvent,
      responseUrl: (user, channel) => `${baseUrl}/respond/${responseUrls.give(user, channel, now())}`,
    }),
    async fetch(request) {
      const [, kind, name = ""] = /\/(api|respond)\/([\w.-]+)$/.exec(new URL(request.url).pathname) ?? [];
      if (kind === "api") {
        return faults.around(name, request, () => answerCall(webApi, name, request));
      }
      if (kind === "respond" && request.method === "POST") {
        return faults.around("respond", request, async () =>
          responseUrls.answer(name, await request.json(), context, now()),
        );
      }
      return new Response("not found", { status: 404 });
    },
    get baseUrl() {
      return baseUrl;
    },
    set baseUrl(url) {
      baseUrl = url.replace(/\/$/, "");
    },
    attachSocketMode: (server, path) => socketMode.attach(server, path),
    get connections() {
      return socketMode.connections();
    },
    refreshConnections: () => socketMode.refresh(),
    sayOnConnections: (frame) => socketMode.say(frame),
    send(body, { contentType = "application/json", signature = "right" } = {}) {
      const { headers } = signedRequest({ signingSecret, now }, body, contentType, signature);
      return fetch(eventsUrl(), { method: "POST", headers, body });
    },
    snapshot: workspace.snapshot,
    subscribe: workspace.subscribe,
    calls,
    fail: (fault) => faults.add(fault),
    async delivered() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    close() {
      closing.abort();
      socketMode.close();
    },
  };
}
