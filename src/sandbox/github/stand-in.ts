/** A stateful stand-in for GitHub's REST API and webhooks, for tests and the sandbox. */
import { setTimeout as delay } from "node:timers/promises";
import { createFaults, type Fault, silence, type Trouble, withTrouble } from "#sandbox/stand-in/faults.ts";
import { createListeners } from "#sandbox/stand-in/listeners.ts";
import { type AppSettings, createAccess } from "./access.ts";
import { createDeliveries } from "./deliveries.ts";
import { createRest } from "./rest.ts";
import { defaultSnapshot, type GitHubSnapshot } from "./snapshot.ts";
import { createWorld } from "./world.ts";

const hourMs = 3_600_000;

/** Options of the GitHub stand-in. */
export interface GitHubStandInOptions {
  readonly webhookSecret: string;
  /** The personal access token that is accepted; it belongs to the snapshot's `bot`. */
  readonly token: string;
  /** Where webhooks go; called for each delivery. */
  readonly webhookUrl: () => string;
  /** GitHub's clock: milliseconds since the epoch. */
  readonly now?: () => number;
  /** How long lists don't show what is new, in milliseconds; 0 if absent. */
  readonly lagMs?: () => number;
  /** Number of requests that the rate limit allows each hour; 5,000 if absent, as GitHub allows a person. */
  readonly hourlyLimit?: number;
  /** How many webhooks of the bot get each event; 1 if absent. */
  readonly hooks?: number;
  readonly initial?: GitHubSnapshot;
  /** A GitHub App that is installed everywhere. */
  readonly app?: AppSettings;
  /** Whether the token may see and use the repositories' webhooks; false if absent. */
  readonly hooksAllowed?: boolean;
  /** Returns the delay of a redelivery that the API requests, in milliseconds; 0 if absent. */
  readonly redeliveryDelayMs?: () => number;
}

/** A failure of the next requests to a path. */
export interface GitHubFault extends Fault {
  /** Any method if absent. */
  readonly method?: string;
  /** The whole path, or a pattern that it matches. */
  readonly path: RegExp | string;
  readonly with: Trouble & {
    /** Answers with this instead of carrying the request out. */
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    /** Answers this much later, in milliseconds. */
    readonly lateMs?: number;
  };
}

/** One request that arrived at the REST API. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** As text; empty if there was none. */
  readonly body: string;
  /** null until it is answered, and for ever if the answer was withheld. */
  status: number | null;
}

/** A person's login and the repository, `owner/name`. */
interface By {
  readonly user: string;
  readonly repo: string;
}

/** The Node server's second argument; a connection can only be cut through it. */
export interface Connection {
  readonly incoming?: { readonly socket: { destroy(): unknown } };
}

/** Creates the stand-in. People's actions run as `user` and resolve when the webhook was answered. */
export function createGitHubStandIn(options: GitHubStandInOptions) {
  const { webhookSecret, webhookUrl, token, app, now = Date.now } = options;
  const { redeliveryDelayMs = () => 0, hooksAllowed = false, lagMs = () => 0, hooks = 1 } = options;
  const { hourlyLimit = 5_000 } = options;
  const { notify: onChange, subscribe } = createListeners();
  const deliveries = createDeliveries({ webhookSecret, webhookUrl, now, onChange, hooks, redeliveryDelayMs });
  const state = structuredClone(options.initial ?? defaultSnapshot());
  const world = createWorld({ state, now, lagMs, deliver: deliveries.deliver, onChange });
  const access = createAccess({ world, token, app, now });
  const rest = createRest(world, access, deliveries, hooksAllowed);
  const faults = createFaults<GitHubFault>();
  const calls: Call[] = [];

  let hour = { resetsAt: 0, callsBefore: 0 };

  function limitHeaders(): Record<string, string> {
    if (now() >= hour.resetsAt) hour = { resetsAt: now() + hourMs, callsBefore: calls.length - 1 };
    const used = Math.min(calls.length - hour.callsBefore, hourlyLimit);
    return {
      "x-ratelimit-limit": String(hourlyLimit),
      "x-ratelimit-used": String(used),
      "x-ratelimit-remaining": String(hourlyLimit - used),
      "x-ratelimit-reset": String(Math.ceil(hour.resetsAt / 1_000)),
      "x-ratelimit-resource": "core",
    };
  }

  const hits = ({ method, path }: GitHubFault, call: Call): boolean =>
    (method === undefined || method.toUpperCase() === call.method) &&
    (typeof path === "string" ? path === call.path : path.test(call.path));

  /** `/repositories/<id>` is another address of a repository. */
  function byName(request: Request): Request {
    const url = new URL(request.url);
    const [, id, rest = ""] = /^\/repositories\/(\d+)(\/.*)?$/.exec(url.pathname) ?? [];
    const repo = id === undefined ? undefined : world.findRepoById(Number(id));
    if (repo === undefined) return request;
    url.pathname = `/repos/${repo.owner}/${repo.name}${rest}`;
    return new Request(url, request);
  }

  async function answer(request: Request, connection: Connection | undefined, call: Call): Promise<Response> {
    const trouble = faults.take((fault) => hits(fault, call)) ?? {};
    const cut = (): Promise<Response> => {
      connection?.incoming?.socket.destroy();
      return silence(request);
    };
    const response = await withTrouble(trouble, request, cut, () => {
      const { status, body = { message: "Something failed" } } = trouble;
      return status === undefined ? rest.fetch(byName(request)) : Response.json(body, { status });
    });
    if (trouble.lateMs !== undefined) await delay(trouble.lateMs);
    const date = new Date(now()).toUTCString();
    for (const [name, value] of Object.entries({ ...limitHeaders(), date, ...trouble.headers })) {
      response.headers.set(name, value);
    }
    return response;
  }

  return {
    /** The REST API; paths are relative to its base URL. Pass the server's second argument as well. */
    async fetch(request: Request, connection?: Connection): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      const body = await request.clone().text();
      const call: Call = { method: request.method, path: pathname, query: search, body, status: null };
      calls.push(call);
      const response = await answer(request, connection, call);
      call.status = response.status === 499 ? null : response.status;
      return response;
    },

    async openIssue(o: By & { title: string; body?: string | null; pullRequest?: boolean }) {
      const { body = null, pullRequest = false } = o;
      const { issue, delivery } = world.openIssue(o.repo, o.user, o.title, body, pullRequest);
      return { id: issue.id, number: issue.number, delivery: await delivery };
    },
    async closeIssue(o: By & { issue: number }) {
      return { delivery: await world.closeIssue(world.issueOf(o.repo, o.issue), o.user) };
    },
    /** `delivery` is undefined if the issue already had the label. */
    async label(o: By & { issue: number; label: string }) {
      const [delivery] = world.addLabels(world.issueOf(o.repo, o.issue), [o.label], o.user);
      return { delivery: await delivery };
    },
    async unlabel(o: By & { issue: number; label: string }) {
      return { delivery: await world.removeLabel(world.issueOf(o.repo, o.issue), o.label, o.user) };
    },
    async comment(o: By & { issue: number; body: string }) {
      const { comment, delivery } = world.addComment(world.issueOf(o.repo, o.issue), o.body, o.user);
      return { id: comment.id, delivery: await delivery };
    },
    async editComment(o: By & { id: number; body: string }) {
      return { delivery: await world.editComment(world.commentOf(o.repo, o.id), o.body, o.user) };
    },
    async deleteComment(o: By & { id: number }) {
      return { delivery: await world.deleteComment(world.commentOf(o.repo, o.id), o.user) };
    },
    /** Renames the repository, or transfers it to another owner; `to` is `owner/name`. */
    renameRepo: world.renameRepo,
    /** Resolves with the issue's new number. */
    async transferIssue(o: By & { issue: number; to: string }) {
      const { issue, delivery } = world.transferIssue(world.issueOf(o.repo, o.issue), o.to, o.user);
      return { number: issue.number, delivery: await delivery };
    },
    /** Turns the webhooks off: no delivery is made. */
    turnOff: deliveries.suspend,
    /** Suspends the App, which then may do nothing and gets no deliveries. */
    suspend(isSuspended: boolean): void {
      deliveries.suspend(isSuspended);
      access.suspend(isSuspended);
    },
    lock(o: { repo: string; issue: number }): void {
      world.issueOf(o.repo, o.issue).locked = true;
    },

    /** Every delivery so far, oldest first. */
    deliveries: deliveries.log,
    redeliver: deliveries.redeliver,
    send: deliveries.send,
    idle: deliveries.idle,

    /** Every request so far, oldest first. */
    calls: calls as readonly Call[],
    /** Makes the next matching requests fail. */
    fail: faults.add,
    /** Ends all failures. */
    heal: faults.clear,
    revokeInstallationTokens: access.revokeAll,

    snapshot: (): GitHubSnapshot => structuredClone(state),
    subscribe,
  };
}

/** See `createGitHubStandIn`. */
export type GitHubStandIn = ReturnType<typeof createGitHubStandIn>;
