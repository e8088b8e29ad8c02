/** Real servers on the loopback: the stand-in, and the receiver of its webhooks. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { PlatformEvent } from "#core/event.ts";
import type { GitHubAuth } from "#github/client.ts";
import { createListener } from "#github/receive/receive.ts";
import { createGitHubPlatform } from "#github/send/send.ts";
import type { Accept } from "#ports.ts";
import type { GitHubSnapshot } from "#sandbox/github/snapshot.ts";
import { createGitHubStandIn } from "#sandbox/github/stand-in.ts";
import { listen } from "#test/support/listen.ts";
import { recordingLog } from "#test/support/logs.ts";

export const webhookSecret = "a secret of the webhook";
export const token = "ghp_a_token_of_the_bot";
export const slug = "agent-runs-app";
const appId = 4711;

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});

export const tokenAuth: GitHubAuth = { token };
export const appAuth: GitHubAuth = { appId, privateKey };

export interface StartOptions {
  readonly auth?: GitHubAuth;
  readonly accept?: Accept<PlatformEvent>;
  readonly initial?: GitHubSnapshot;
  /** The receiver's secret; the stand-in signs with `webhookSecret`. */
  readonly receiverSecret?: string;
  readonly requestTimeoutMs?: number;
  readonly permissionTtlMs?: number;
  /** Whether the token may see and use the repository's webhook. */
  readonly hooksAllowed?: boolean;
  /** The clocks run; otherwise tests set them. */
  readonly realTime?: boolean;
  /** How many webhooks of the bot get each event. */
  readonly hooks?: number;
  /** The platform's `publicUrl`. */
  readonly publicUrl?: string;
}

/**
 * Starts both. `clock.ms` is the time; somebody set the adapter's clock by `stepMs`, the stand-in's differs by
 * `skewMs`, and its lists lag.
 */
export async function start(options: StartOptions = {}) {
  const clock = { ms: Date.parse("2026-03-01T12:00:00Z"), stepMs: 0, skewMs: 0, lagMs: 0 };
  if (options.realTime) Object.defineProperty(clock, "ms", { get: Date.now });
  // JWTs and their expiry are checked against the real clock by Octokit.
  else if (options.auth !== undefined && "appId" in options.auth) clock.ms = Date.now();
  const now = (): number => clock.ms + clock.stepMs;
  const events: PlatformEvent[] = [];
  const { log, lines } = recordingLog();
  const hook = { url: "" };
  const standIn = createGitHubStandIn({
    webhookSecret,
    token,
    webhookUrl: () => hook.url,
    now: () => clock.ms + clock.skewMs,
    lagMs: () => clock.lagMs,
    hooks: options.hooks ?? 1,
    app: { id: appId, slug, publicKey },
    ...(options.initial ? { initial: options.initial } : {}),
    hooksAllowed: options.hooksAllowed ?? false,
  });
  const state = { down: false, before: async (_: Request): Promise<void> => {} };
  const api = await listen(
    createServer(
      getRequestListener(async (request, connection) => {
        await state.before(request);
        return standIn.fetch(request, connection);
      }),
    ),
  );
  const platform = createGitHubPlatform({
    auth: options.auth ?? tokenAuth,
    apiUrl: api.url,
    log,
    accept: (event) => accept(event),
    now,
    elapsed: () => clock.ms,
    ...(options.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: options.requestTimeoutMs }),
    ...(options.permissionTtlMs === undefined ? {} : { permissionTtlMs: options.permissionTtlMs }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
  });
  const accept: Accept<PlatformEvent> = async (event) => {
    if (state.down) throw new Error("nothing can be saved");
    events.push(event);
    return options.accept?.(event) ?? "saved";
  };
  const listener = createListener({
    accept,
    log,
    webhookSecret: options.receiverSecret ?? webhookSecret,
    identity: platform.identity,
    intake: platform.intake,
  });
  const receiver = await listen(createServer(listener));
  hook.url = `${receiver.url}/github/webhooks`;

  return {
    standIn,
    platform,
    events,
    /** The adapter's log lines. */
    lines,
    clock,
    hook,
    /** While `down` is true, nothing is taken in and every delivery fails. `before` is called before each request. */
    state,
    /** Method and path of the REST calls so far. */
    calls: (): string[] => standIn.calls.map(({ method, path }) => `${method} ${path}`),
    comments: () => standIn.snapshot().comments,
    stopApi: api.close,
    async [Symbol.asyncDispose]() {
      await receiver.close();
      await api.close();
      await standIn.idle();
    },
  };
}

export const repo = "octo/app";
