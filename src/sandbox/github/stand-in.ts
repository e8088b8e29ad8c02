/** A GitHub that remembers: its REST API and its webhooks, for tests and for the sandbox's page. */
import { type AppSettings, createAccess } from "./access.ts";
import { createDeliveries, type Delivery, type ForgedRequest } from "./deliveries.ts";
import { createFailures, type Failure } from "./failures.ts";
import { createRest } from "./rest.ts";
import { type Comment, defaultSnapshot, type GitHubSnapshot, type Issue } from "./snapshot.ts";
import { createWorld } from "./world.ts";

const hourlyLimit = 5000;

export interface GitHubStandInOptions {
  readonly webhookSecret: string;
  /** The personal access token that is accepted; it belongs to the snapshot's `bot`. */
  readonly token: string;
  /** Where webhooks go; asked for each delivery. */
  readonly webhookUrl: () => string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly initial?: GitHubSnapshot;
  /** A GitHub App that is installed everywhere. */
  readonly app?: AppSettings;
  /** Whether the token may see and use the repositories' webhooks; no if absent. */
  readonly hooksAllowed?: boolean;
  /** Asked for each redelivery that is requested through the API, in milliseconds; none if absent. */
  readonly redeliveryDelayMs?: () => number;
}

/** One request that arrived at the REST API. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** As text; empty if there was none. */
  readonly body: string;
  /** null while it is being answered, and for good if the answer was held back. */
  status: number | null;
}

/** What the Node server hands over besides the request; a connection can only be cut through it. */
export interface Connection {
  readonly incoming?: { readonly socket: { destroy(): unknown } };
}

/** People's verbs take part in the world as `user` and resolve when the webhook was answered. */
export function createGitHubStandIn(options: GitHubStandInOptions) {
  const { webhookSecret, webhookUrl, token, app, now = Date.now } = options;
  const listeners = new Set<() => void>();
  const onChange = (): void => {
    for (const listener of listeners) listener();
  };
  const { redeliveryDelayMs = () => 0 } = options;
  const deliveries = createDeliveries({ webhookSecret, webhookUrl, now, onChange, redeliveryDelayMs });
  const state = structuredClone(options.initial ?? defaultSnapshot());
  const world = createWorld({ state, now, deliver: deliveries.deliver, onChange });
  const access = createAccess({ world, token, app, now });
  const { hooksAllowed = false } = options;
  const rest = createRest({ world, access, deliveries, hooksAllowed: () => hooksAllowed });
  const failures = createFailures();
  const calls: Call[] = [];

  const issueOf = (repo: string, number: number): Issue => {
    const issue = world.findIssue(repo, number);
    if (issue === undefined) throw new Error(`no issue ${repo}#${number}`);
    return issue;
  };
  const commentOf = (repo: string, id: number): Comment => {
    const comment = world.findComment(repo, id);
    if (comment === undefined) throw new Error(`no comment ${id} in ${repo}`);
    return comment;
  };

  function limitHeaders(): Record<string, string> {
    const used = Math.min(calls.length, hourlyLimit);
    return {
      "x-ratelimit-limit": String(hourlyLimit),
      "x-ratelimit-used": String(used),
      "x-ratelimit-remaining": String(hourlyLimit - used),
      "x-ratelimit-reset": String(Math.ceil(now() / 1000) + 3600),
      "x-ratelimit-resource": "core",
    };
  }

  /** Holds the answer back until the caller gives up. */
  const silence = (request: Request): Promise<Response> =>
    new Promise((resolve) => {
      const end = (): void => resolve(new Response(null, { status: 499 }));
      if (request.signal.aborted) end();
      request.signal.addEventListener("abort", end, { once: true });
    });

  async function answer(request: Request, connection: Connection | undefined, call: Call): Promise<Response> {
    const failure = failures.take(call.method, call.path);
    const cut = (): Promise<Response> => {
      connection?.incoming?.socket.destroy();
      return silence(request);
    };
    if (failure?.hang === "before") return silence(request);
    if (failure?.reset === "before") return cut();
    if (failure?.status !== undefined) {
      const headers = { ...limitHeaders(), ...failure.headers };
      return Response.json(failure.body ?? { message: "Something failed" }, {
        status: failure.status,
        headers,
      });
    }
    const response = await rest.fetch(request);
    if (failure?.hang === "after") return silence(request);
    if (failure?.reset === "after") return cut();
    for (const [name, value] of Object.entries({ ...limitHeaders(), ...failure?.headers })) {
      response.headers.set(name, value);
    }
    return response;
  }

  return {
    /** The REST API; paths are relative to its base URL. Give it the server's second argument as well. */
    async fetch(request: Request, connection?: Connection): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      const body = await request.clone().text();
      const call: Call = { method: request.method, path: pathname, query: search, body, status: null };
      calls.push(call);
      const response = await answer(request, connection, call);
      call.status = response.status === 499 ? null : response.status;
      return response;
    },

    async openIssue(o: {
      user: string;
      repo: string;
      title: string;
      body?: string | null;
      pullRequest?: boolean;
    }) {
      const { issue, delivery } = world.openIssue(
        o.repo,
        o.user,
        o.title,
        o.body ?? null,
        o.pullRequest ?? false,
      );
      return { id: issue.id, number: issue.number, delivery: await delivery };
    },
    async closeIssue(o: { user: string; repo: string; issue: number }) {
      return { delivery: await world.closeIssue(issueOf(o.repo, o.issue), o.user) };
    },
    /** `delivery` is undefined if the label was there already. */
    async label(o: { user: string; repo: string; issue: number; label: string }) {
      const [delivery] = await Promise.all(world.addLabels(issueOf(o.repo, o.issue), [o.label], o.user));
      return { delivery };
    },
    async unlabel(o: { user: string; repo: string; issue: number; label: string }) {
      return { delivery: await world.removeLabel(issueOf(o.repo, o.issue), o.label, o.user) };
    },
    async comment(o: { user: string; repo: string; issue: number; body: string }) {
      const { comment, delivery } = world.addComment(issueOf(o.repo, o.issue), o.body, o.user);
      return { id: comment.id, delivery: await delivery };
    },
    async editComment(o: { user: string; repo: string; id: number; body: string }) {
      return { delivery: await world.editComment(commentOf(o.repo, o.id), o.body, o.user) };
    },
    async deleteComment(o: { user: string; repo: string; id: number }) {
      return { delivery: await world.deleteComment(commentOf(o.repo, o.id), o.user) };
    },
    lock(o: { repo: string; issue: number }): void {
      issueOf(o.repo, o.issue).locked = true;
    },

    deliveries: deliveries.log,
    redeliver: (guid: string): Promise<Delivery> => deliveries.redeliver(guid),
    send: (request: ForgedRequest) => deliveries.send(request),
    idle: deliveries.idle,

    /** Every request so far, oldest first. */
    calls: calls as readonly Call[],
    fail: (failure: Failure): void => failures.add(failure),
    revokeInstallationTokens: access.revokeAll,

    snapshot: (): GitHubSnapshot => structuredClone(state),
    /** Calls `listener` after each change; the answer ends it. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export type GitHubStandIn = ReturnType<typeof createGitHubStandIn>;
