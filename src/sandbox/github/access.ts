/** The caller of a request: a personal access token's user, the App itself (JWT), or one of its installations. */
import { createVerify, randomUUID } from "node:crypto";
import { same, type User } from "./snapshot.ts";
import type { World } from "./world.ts";

/** GitHub's installation tokens live for an hour. */
const installationTokenMs = 60 * 60 * 1000;

/** A GitHub App. */
export interface AppSettings {
  readonly id: number;
  readonly slug: string;
  /** PEM; JWTs are verified with it. */
  readonly publicKey: string;
}

/** An authenticated caller. */
export type Caller =
  | { readonly kind: "user"; readonly user: User }
  | { readonly kind: "installation"; readonly user: User; readonly installation: number }
  | { readonly kind: "app" };

function claimsOf(segment: string): { iss?: unknown; exp?: unknown } {
  const claims: unknown = JSON.parse(Buffer.from(segment, "base64url").toString());
  return typeof claims === "object" && claims !== null ? claims : {};
}

/** True if the App's key signed the JWT, and it names the App and has not expired. */
function isAppJwt(jwt: string, app: AppSettings, nowMs: number): boolean {
  const [header, payload, signature] = jwt.split(".");
  if (header === undefined || payload === undefined || signature === undefined) return false;
  const verifier = createVerify("RSA-SHA256").update(`${header}.${payload}`);
  if (!verifier.verify(app.publicKey, signature, "base64url")) return false;
  const { iss, exp } = claimsOf(payload);
  return String(iss) === String(app.id) && typeof exp === "number" && exp * 1000 > nowMs;
}

/** Checks callers, and issues installation tokens. */
export function createAccess({
  world,
  token,
  app,
  now,
}: {
  world: World;
  token: string;
  app: AppSettings | undefined;
  now: () => number;
}) {
  let suspended = false;
  const minted = new Map<string, { installation: number; expiresAtMs: number }>();
  const botUser = (): User => {
    const login = `${app?.slug}[bot]`;
    const known = world.findUser(login);
    if (known !== undefined) return known;
    world.state.lastId += 1;
    const user: User = { login, id: world.state.lastId, type: "Bot" };
    world.state.users.push(user);
    return user;
  };

  return {
    app,

    /** The caller; null if GitHub would answer 401. */
    callerOf(authorization: string | null): Caller | null {
      const [scheme = "", secret = ""] = (authorization ?? "").split(" ");
      if (!["token", "bearer"].includes(scheme.toLowerCase())) return null;
      if (secret === token) {
        const user = world.findUser(world.state.bot);
        return user === undefined ? null : { kind: "user", user };
      }
      const grant = minted.get(secret);
      if (grant !== undefined) {
        if (grant.expiresAtMs <= now()) return null;
        return { kind: "installation", user: botUser(), installation: grant.installation };
      }
      return app !== undefined && isAppJwt(secret, app, now()) ? { kind: "app" } : null;
    },

    /** The owner's installation of the App: the id of the owner's first repository. */
    installationOf: (owner: string): number | undefined =>
      world.state.repos.find((repo) => same(repo.owner, owner))?.id,

    /** Suspends the App: GitHub refuses its installations. */
    suspend(isSuspended: boolean): void {
      suspended = isSuspended;
    },
    isSuspended: (): boolean => suspended,

    /** Issues an installation token. */
    mint(installation: number): { token: string; expires_at: string } {
      const secret = `ghs_${randomUUID().replaceAll("-", "")}`;
      const expiresAtMs = now() + installationTokenMs;
      minted.set(secret, { installation, expiresAtMs });
      return { token: secret, expires_at: new Date(expiresAtMs).toISOString() };
    },

    /** Revokes every installation token, as when the App is reinstalled. */
    revokeAll: (): void => minted.clear(),
  };
}

/** See `createAccess`. */
export type Access = ReturnType<typeof createAccess>;
