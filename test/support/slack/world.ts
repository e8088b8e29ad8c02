/** The adapter and a stand-in of Slack, each behind a real HTTP server on the loopback. */
import { createServer, type RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { CardEffect, PlatformEffect, ReplyEffect, TellEffect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import type { View } from "#core/view.ts";
import type { Accept, Platform } from "#ports.ts";
import { createSlackStandIn, type SlackStandIn } from "#sandbox/slack/stand-in.ts";
import type { Conditions, SlackSnapshot } from "#sandbox/slack/workspace.ts";
import { createSlackReceiver, type SlackReceiver } from "#slack/receive/receive.ts";
import { createSlackPlatform } from "#slack/send/send.ts";
import { createSlackTime } from "#slack/slack-time.ts";
import { listen } from "#test/support/listen.ts";
import { type LogLine, recordingLog } from "#test/support/logs.ts";

const signingSecret = "test-signing-secret";
export const botToken = "xoxb-test";
const appToken = "xapp-test";

export interface World {
  readonly slack: SlackStandIn;
  readonly receiver: SlackReceiver;
  readonly platform: Platform;
  /** Creates the platform again, as another process of the bot does. */
  restarted(): Platform;
  /** The adapter's log lines. */
  readonly lines: readonly LogLine[];
  /** The events passed to `accept`, in order. */
  readonly events: PersonEvent[];
  /** May be replaced; the event is kept in any case. */
  accept: Accept;
  readonly apiUrl: string;
  /** The address of the bot's listener. */
  readonly botUrl: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WorldOptions {
  readonly mode?: "http" | "socket";
  readonly initial?: SlackSnapshot;
  /** The bot's own clock. */
  readonly now?: () => number;
  /** The bot's monotonic clock. */
  readonly elapsed?: () => number;
  /** The time limit of Web API calls. */
  readonly timeoutMs?: number;
  /** Slack's clock and its delays. */
  readonly conditions?: Conditions;
  readonly answerWithinMs?: number;
  readonly retryDelaysMs?: readonly number[];
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const { mode = "http", initial, timeoutMs, answerWithinMs = 20_000 } = options;
  const { now = clock.now, elapsed = clock.elapsed } = options;
  const { log, lines } = recordingLog();
  const events: PersonEvent[] = [];
  let listener: RequestListener = (_request, response) => response.writeHead(503).end();
  const botServer = createServer((request, response) => listener(request, response));
  const botAt = await listen(botServer);
  const botUrl = `${botAt.url}/slack/events`;
  const slack = createSlackStandIn({
    signingSecret,
    botToken,
    appToken,
    eventsUrl: () => botUrl,
    answerWithinMs,
    retryDelaysMs: options.retryDelaysMs ?? [10, 20, 40],
    ...(initial === undefined ? {} : { initial }),
    ...(options.conditions === undefined ? {} : { conditions: options.conditions }),
  });
  const slackServer = createServer(getRequestListener(slack.fetch));
  const slackAt = await listen(slackServer);
  slack.baseUrl = slackAt.url;
  if (mode === "socket") slack.attachSocketMode(slackServer, "/socket");
  const apiUrl = `${slack.baseUrl}/api/`;

  const receiver = createSlackReceiver({
    accept: (event) => {
      events.push(event);
      return world.accept(event);
    },
    log,
    time: createSlackTime({ now, elapsed }),
    botToken,
    apiUrl,
    receive: mode === "http" ? { kind: "http", signingSecret } : { kind: "socket", appToken },
  });
  if (receiver.listener !== undefined) listener = receiver.listener;
  const restarted = (): Platform =>
    createSlackPlatform({
      botToken,
      apiUrl,
      log,
      clock: { now, elapsed },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });

  const world: World = {
    slack,
    receiver,
    platform: restarted(),
    restarted,
    lines,
    events,
    accept: async () => "saved",
    apiUrl,
    botUrl,
    async [Symbol.asyncDispose]() {
      slack.close();
      await receiver.stop();
      await slack.delivered();
      await Promise.all([botAt.close(), slackAt.close()]);
    },
  };
  return world;
}

export const clock = { now: Date.now, elapsed: () => performance.now() };

export const general = "slack:T0SANDBOX:C0GENERAL";
export const random = "slack:T0SANDBOX:C0RANDOM";

export const view = (words: Partial<View> = {}): View => ({
  tone: "plain",
  headline: ["Queued"],
  details: [],
  actions: [],
  ...words,
});

const pending = (at: string) => ({
  to: at,
  at,
  since: new Date().toISOString(),
  tries: 0,
});

export const card = (at: string, more: Partial<CardEffect> = {}): CardEffect => ({
  ...pending(at),
  kind: "card",
  id: "e-card",
  dispatch: "d1",
  view: view(),
  revision: 1,
  ...more,
});

export const reply = (at: string, more: Partial<ReplyEffect> = {}): ReplyEffect => ({
  ...pending(at),
  kind: "reply",
  id: "e-reply",
  view: view({ headline: ["Done"] }),
  ...more,
});

export const alice = { platform: "slack", id: "UALICE", name: "alice", bot: false };

export const tell = (at: string, more: Partial<TellEffect> = {}): TellEffect => ({
  ...pending(at),
  kind: "tell",
  id: "e-tell",
  person: alice,
  view: view({ headline: ["Only you see this"] }),
  ...more,
});

/** Fields of any other effect. */
export const base = (at: string, id = "e-other") => ({ ...pending(at), id });

export const sure = { uncertain: false, settlesInMs: 0 };
export const unsure = { uncertain: true, settlesInMs: 0 };

/** Performs the effect and expects an outcome of its own kind. */
export async function performed<K extends PlatformEffect["kind"]>(
  platform: Platform,
  effect: Extract<PlatformEffect, { kind: K }>,
  attempt = sure,
): Promise<Extract<Outcome, { ok: true; kind: K }>> {
  const outcome = await platform.perform(effect, attempt);
  if (!outcome.ok) throw new Error(`it failed: ${outcome.fault.reason}`);
  if (!isOf<K>(outcome, effect.kind)) throw new Error(`the outcome is of ${outcome.kind}`);
  return outcome;
}

const isOf = <K extends PlatformEffect["kind"]>(
  outcome: Outcome,
  kind: string,
): outcome is Extract<Outcome, { ok: true; kind: K }> => outcome.ok && outcome.kind === kind;

/** Performs the effect and expects a fault. */
export async function faultOf(platform: Platform, effect: PlatformEffect, attempt = sure) {
  const outcome = await platform.perform(effect, attempt);
  if (outcome.ok) throw new Error(`it succeeded: ${outcome.kind}`);
  return outcome.fault;
}

/** Returns the messages in a channel. */
export const messagesIn = (slack: SlackStandIn, channel = "C0GENERAL") =>
  slack.snapshot().channels.find(({ id }) => id === channel)?.messages ?? [];
