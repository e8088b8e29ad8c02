import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import type { Identity } from "#github/understand/translate.ts";
import type { Repo } from "./place.ts";

/** GitHub waits ten seconds for the answer to a webhook, and the first delivery waits for the identity. */
const identityTimeoutMs = 5_000;
/** Saves one request for each effect, and one for each installation's token. */
const rememberedRepos = 1_000;

/** GitHub's `Date` has whole seconds, and responses take time. */
const blurMs = 5_000;

/** Thrown when a proxy answered instead of GitHub; the outcome of the request is unknown. */
class NotGitHub extends Error {
  constructor() {
    super("The response did not come from GitHub's API.");
    this.name = "NotGitHub";
  }
}

/** Thrown when GitHub answers a write with another address; it did nothing. The fields are those of RequestError. */
class Redirected extends Error {
  readonly status: number;
  readonly response: { readonly headers: object; readonly data: unknown };

  constructor(status: number, response: Redirected["response"]) {
    super("GitHub names another address.");
    this.name = "Redirected";
    this.status = status;
    this.response = response;
  }
}

/** The bot's credentials; `privateKey` in PEM form. */
export type GitHubAuth =
  | { readonly token: string }
  | { readonly appId: string | number; readonly privateKey: string };

const appToken = z.object({ token: z.string() });
const installation = z.object({ id: z.int().positive() });

/** Options of `createGitHubClient`. */
export interface ClientOptions {
  readonly auth: GitHubAuth;
  /** The API's base URL; GitHub.com's if absent. */
  readonly apiUrl?: string | undefined;
  readonly log: Log;
  /** A request without an answer is given up after this; its outcome is then unknown. */
  readonly requestTimeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  readonly elapsed: () => number;
  /** The `fetch` that makes the requests; the platform's own if absent. */
  readonly fetch?: typeof fetch | undefined;
}

/** GitHub's REST API with the bot's credentials. */
export interface GitHubClient {
  /** Resolves with an Octokit that may act in the repository. Rejects as a request does. */
  in(repo: Repo): Promise<Octokit>;
  /** The same for the repository with this id. */
  inRepository(id: number): Promise<Octokit>;
  /** Requests the repository's installation again next time, since it may have changed. */
  forget(repo: Repo): void;
  /** Resolves with the bot's identity. Rejects as a request does. */
  askIdentity(): Promise<Identity>;
  /** Milliseconds by which GitHub's clock is ahead of ours, by its latest response; 0 before the first. */
  aheadMs(): number;
  /** An Octokit that acts as the App itself; null for a token. */
  readonly asApp: Octokit | null;
}

/** Creates the client. Octokit's own plugins for retries are absent: the engine tries again. */
export function createGitHubClient(options: ClientOptions): GitHubClient {
  const { auth, apiUrl, log, requestTimeoutMs, now, elapsed } = options;
  let aheadOfElapsedMs: number | null = null;
  const common = {
    userAgent: "agent-runs-bot",
    log: {
      debug: () => {},
      info: (message: string): void => log.debug(message),
      warn: (message: string): void => log.warn(`GitHub's client: ${message}`),
      // Octokit logs each failed request as an error; the effect's fault is logged anyway.
      error: (message: string): void => log.debug(message),
    },
    ...(apiUrl === undefined ? {} : { baseUrl: apiUrl.replace(/\/+$/, "") }),
    ...(options.fetch === undefined ? {} : { request: { fetch: options.fetch } }),
  };

  function limited(octokit: Octokit): Octokit {
    // A proxy's page with status 200 must not be read as GitHub's response.
    octokit.hook.after("request", ({ data, status, headers }) => {
      const servedAt = Date.parse(headers.date ?? "");
      if (!Number.isNaN(servedAt)) aheadOfElapsedMs = servedAt - elapsed();
      if (status >= 300 && status < 400) throw new Redirected(status, { headers, data });
      const isText = typeof data === "string" && data !== "";
      if (status !== 204 && isText && !String(headers["content-type"]).includes("json"))
        throw new NotGitHub();
    });
    octokit.hook.before("request", (options) => {
      // Requests without options share one object, and would share the signal.
      options.request = { signal: AbortSignal.timeout(requestTimeoutMs), ...options.request };
      // A redirected POST would arrive as a GET.
      if (options.method !== "GET") options.request.redirect = "manual";
    });
    return octokit;
  }
  const soon = () => ({
    request: { signal: AbortSignal.timeout(Math.min(identityTimeoutMs, requestTimeoutMs)) },
  });

  function aheadMs(): number {
    const ahead = aheadOfElapsedMs === null ? 0 : aheadOfElapsedMs + elapsed() - now();
    return Math.abs(ahead) < blurMs ? 0 : ahead;
  }

  if ("token" in auth) {
    const octokit = limited(new Octokit({ ...common, auth: auth.token }));
    return {
      in: () => Promise.resolve(octokit),
      inRepository: () => Promise.resolve(octokit),
      forget: () => {},
      aheadMs,
      asApp: null,
      async askIdentity() {
        const { data } = await octokit.rest.users.getAuthenticated(soon());
        return { login: data.login, mention: data.login };
      },
    };
  }

  const { appId, privateKey } = auth;
  const withAppAuth = (installationId?: number): Octokit =>
    limited(
      new Octokit({
        ...common,
        authStrategy: createAppAuth,
        auth: { appId, privateKey, ...(installationId === undefined ? {} : { installationId }) },
      }),
    );
  const app = withAppAuth();
  // Octokit knows the paths for which the App acts as itself, but not the one with a repository's id.
  const plain = limited(new Octokit(common));
  const installations = new LRUCache<number, Octokit>({ max: rememberedRepos });
  const byRepo = new LRUCache<string, Promise<Octokit>>({ max: rememberedRepos });
  const keyOf = ({ owner, repo }: Repo): string => `${owner}/${repo}`.toLowerCase();

  function actingIn(installation: number): Octokit {
    const known = installations.get(installation) ?? withAppAuth(installation);
    installations.set(installation, known);
    return known;
  }

  async function find({ owner, repo }: Repo): Promise<Octokit> {
    return actingIn((await app.rest.apps.getRepoInstallation({ owner, repo })).data.id);
  }

  return {
    in(repo) {
      const known = byRepo.get(keyOf(repo));
      if (known !== undefined) return known;
      const found = find(repo);
      byRepo.set(keyOf(repo), found);
      found.catch(() => byRepo.delete(keyOf(repo)));
      return found;
    },
    async inRepository(id) {
      const { token } = appToken.parse(await app.auth({ type: "app" }));
      const headers = { authorization: `bearer ${token}` };
      const { data } = await plain.request("GET /repositories/{id}/installation", { id, headers });
      return actingIn(installation.parse(data).id);
    },
    forget: (repo) => void byRepo.delete(keyOf(repo)),
    aheadMs,
    asApp: app,
    async askIdentity() {
      const { data } = await app.rest.apps.getAuthenticated(soon());
      if (data?.slug === undefined) throw new Error("GitHub's response does not name the App");
      return { login: `${data.slug}[bot]`, mention: data.slug };
    },
  };
}
