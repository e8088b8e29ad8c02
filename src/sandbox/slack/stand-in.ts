import { setTimeout as delay } from "node:timers/promises";
import { createFaults, type Fault, type Trouble, withTrouble } from "#sandbox/stand-in/faults.ts";
import { createUnderWay } from "#sandbox/stand-in/under-way.ts";
import {
  createHttpSend,
  type Delivery,
  deliver,
  type Signature,
  signedRequest,
  slackRetryDelaysMs,
  type Try,
} from "./deliver.ts";
import type { ApiContext } from "./method.ts";
import { changedEvent, eventCallback, messageEvent, type Payload } from "./payloads.ts";
import { createPeople } from "./people.ts";
import { createResponseUrls } from "./response-urls.ts";
import { createSocketMode } from "./socket-mode.ts";
import { answerCall, type SlackCall } from "./web-api.ts";
import { type Conditions, createWorkspace, emptyWorkspace, type SlackSnapshot } from "./workspace.ts";

/** Options of the Slack stand-in. */
export interface SlackStandInOptions {
  readonly signingSecret: string;
  readonly botToken: string;
  readonly appToken?: string;
  /** Where the app listens; called for each delivery. */
  readonly eventsUrl: () => string;
  /** Milliseconds since the epoch; `Date.now` if absent. */
  readonly now?: () => number;
  readonly initial?: SlackSnapshot;
  /** Where this stand-in is reached, without a slash at the end; may be set later. */
  readonly baseUrl?: string;
  /** Waits before an event is repeated, in milliseconds; Slack's own if absent. */
  readonly retryDelaysMs?: readonly number[];
  /** How long the app may take, in milliseconds; 3,000 if absent. */
  readonly answerWithinMs?: number;
  readonly conditions?: Conditions;
}

/** A failure of the next calls of one method. */
export interface SlackFault extends Fault {
  /** A Web API method, or `respond` for a response_url. */
  readonly method: string;
  readonly with: Trouble & {
    /** HTTP status, with a body that is not JSON. */
    readonly status?: number;
    /** Slack's error code. */
    readonly error?: string;
    /** Seconds: the answer is a 429. */
    readonly retryAfter?: number;
    /** The call takes effect at once, and is answered this many milliseconds later. */
    readonly lateMs?: number;
  };
}

/** See `createSlackStandIn`. */
export type SlackStandIn = ReturnType<typeof createSlackStandIn>;

/** A stateful stand-in for Slack that speaks its wire protocol, with one workspace in memory. */
export function createSlackStandIn(options: SlackStandInOptions) {
  const { signingSecret, botToken, appToken, eventsUrl, now = Date.now } = options;
  const { retryDelaysMs = slackRetryDelaysMs, answerWithinMs = 3_000 } = options;
  let baseUrl = options.baseUrl ?? "http://127.0.0.1";
  const conditions: Conditions = { ...options.conditions };
  const workspace = createWorkspace(options.initial ?? emptyWorkspace, now, conditions);
  const faults = createFaults<SlackFault>();
  const responseUrls = createResponseUrls();
  const calls: SlackCall[] = [];
  const closing = new AbortController();
  const { track, idle } = createUnderWay();
  const overHttp = createHttpSend({ url: eventsUrl, signingSecret, now, answerWithinMs });
  const socketMode = createSocketMode({ appId: workspace.appId, answerWithinMs });

  const deliverOne = (delivery: Delivery): Promise<readonly Try[]> =>
    track(deliver(socketMode.attached ? socketMode.send : overHttp, delivery, retryDelaysMs, closing.signal));
  const deliverEvent = (event: Payload, signature?: Signature): Promise<readonly Try[]> =>
    deliverOne({ kind: "event", payload: eventCallback(workspace, event, now()), signature });

  const lastRead = new Map<string, number>();
  /** Refuses a page that comes too soon after the method's last one; null: it may be read. */
  function tooOften(method: string): Response | null {
    const everyMs = conditions.reading?.everyMs;
    if (everyMs === undefined || !method.startsWith("conversations.")) return null;
    const waitMs = (lastRead.get(method) ?? Number.NEGATIVE_INFINITY) + everyMs - now();
    if (waitMs > 0) return faultAnswer({ retryAfter: Math.ceil(waitMs / 1000) });
    lastRead.set(method, now());
    return null;
  }

  const context: ApiContext = {
    workspace,
    said(channelId, message) {
      const channel = workspace.channel(channelId);
      if (channel !== undefined) void deliverEvent(messageEvent(workspace, channel, message));
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
    /** Answers `…/api/<method>` and `…/respond/<token>`, with any prefix. */
    async fetch(request: Request): Promise<Response> {
      const [, kind, name = ""] = /\/(api|respond)\/([\w.-]+)$/.exec(new URL(request.url).pathname) ?? [];
      if (kind === undefined || (kind === "respond" && request.method !== "POST")) {
        return new Response("not found", { status: 404 });
      }
      const method = kind === "api" ? name : kind;
      const trouble = faults.take((fault) => fault.method === method) ?? {};
      return withTrouble(trouble, request, brokenAnswer, async () => {
        const fault = faultAnswer(trouble) ?? tooOften(method);
        if (fault !== null) return fault;
        const answer =
          kind === "api"
            ? await answerCall(webApi, name, request)
            : responseUrls.answer(name, await request.json(), context, now());
        answer.headers.set("date", new Date(now() + (conditions.skewMs ?? 0)).toUTCString());
        if (trouble.lateMs !== undefined) await delay(trouble.lateMs, undefined, { ref: false });
        return answer;
      });
    },
    conditions,
    get baseUrl(): string {
      return baseUrl;
    },
    set baseUrl(url: string) {
      baseUrl = url.replace(/\/$/, "");
    },
    /** Serves Socket Mode on the server's path and sends all later deliveries that way. Needs an app token. */
    attachSocketMode: socketMode.attach,
    /** How many apps are connected by Socket Mode. */
    get connections(): number {
      return socketMode.connections();
    },
    refreshConnections: socketMode.refresh,
    sayOnConnections: socketMode.say,
    /** Sends the app any body, signed as given. */
    send(
      body: string,
      {
        contentType = "application/json",
        signature = "right",
      }: { contentType?: string; signature?: Signature } = {},
    ): Promise<Response> {
      const { headers } = signedRequest({ signingSecret, now }, body, contentType, signature);
      return fetch(eventsUrl(), { method: "POST", headers, body });
    },
    snapshot: workspace.snapshot,
    subscribe: workspace.subscribe,
    /** Every Web API call so far, oldest first. */
    calls: calls as readonly SlackCall[],
    /** Makes the next calls of a method fail. */
    fail: faults.add,
    /** Ends all failures. */
    heal: faults.clear,
    /** Resolves when all events have been delivered. */
    delivered: idle,
    /** Ends repetitions and connections. */
    close(): void {
      closing.abort();
      socketMode.close();
    },
  };
}

/** Returns the response that replaces the method's; null if the call goes ahead. */
function faultAnswer({ retryAfter, status, error }: SlackFault["with"]): Response | null {
  if (retryAfter !== undefined) {
    const headers = { "retry-after": String(retryAfter) };
    return Response.json({ ok: false, error: "ratelimited" }, { status: 429, headers });
  }
  if (status !== undefined) return new Response("<html>trouble</html>", { status });
  return error === undefined ? null : Response.json({ ok: false, error });
}

/** A response whose body fails, which makes the server cut the connection. */
const brokenAnswer = (): Response =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(new Error("a fault broke the connection"));
      },
    }),
    { headers: { "content-type": "application/json" } },
  );
