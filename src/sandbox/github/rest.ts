/** The part of GitHub's REST API that a bot on issues uses, with GitHub's statuses and error bodies. */
import { type Context, Hono } from "hono";
import type { Access } from "./access.ts";
import { ApiError, type Env, found, Moved, notFound, page } from "./answers.ts";
import type { Deliveries } from "./deliveries.ts";
import { addHookRoutes } from "./hook-routes.ts";
import { labelJson, repositoryJson, userJson } from "./payloads.ts";
import { addRecentRoutes } from "./recent-routes.ts";
import { type Comment, type Issue, type Repository, type Role, same, type User } from "./snapshot.ts";
import { plainColor, type World } from "./world.ts";

const documentation = "https://docs.github.com/rest";
const maxCommentLength = 65_536;
const reactionContents = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

const invalid = (resource: string, field: string, code: string): ApiError =>
  new ApiError(422, "Validation Failed", [{ resource, code, field }]);

async function bodyOf(c: Context<Env>): Promise<Record<string, unknown>> {
  const body: unknown = await c.req.json().catch(() => {
    throw new ApiError(400, "Problems parsing JSON");
  });
  return typeof body === "object" && body !== null ? { ...body } : {};
}

function userOf(c: Context<Env>): User {
  const caller = c.get("caller");
  if (caller.kind === "app") throw new ApiError(401, "A JSON web token could not be decoded");
  return caller.user;
}

const legacyPermission = (role: Role | "none"): string =>
  role === "maintain" ? "write" : role === "triage" ? "read" : role;

/** The REST API. `hooksAllowed`: the personal access token may see and use the repository's webhooks. */
export function createRest(
  world: World,
  access: Access,
  deliveries: Deliveries,
  hooksAllowed: boolean,
): Hono<Env> {
  const api = new Hono<Env>();
  /** A repository that the caller may not see is not found. */
  function repoOf(c: Context<Env>): Repository {
    const repo = found(world.findRepo(`${c.req.param("owner")}/${c.req.param("repo")}`));
    const caller = c.get("caller");
    if (caller.kind === "user" && world.roleOf(repo, caller.user.login) === "none") throw notFound();
    return repo;
  }
  const fullName = (repo: Repository): string => `${repo.owner}/${repo.name}`;
  /** A transferred issue has another address, but GitHub does not know it when comments are posted. */
  function issueOf(c: Context<Env>): Issue {
    const name = fullName(repoOf(c));
    const number = Number(c.req.param("number"));
    const there = world.findTransferred(name, number);
    const isPost = c.req.method === "POST" && c.req.path.endsWith("/comments");
    if (there === undefined || isPost) return found(world.findIssue(name, number));
    const rest = c.req.path.replace(/^.*?\/issues\/\d+/, "");
    throw new Moved(`/repositories/${world.findRepo(there.repo)?.id}/issues/${there.number}${rest}`);
  }
  const commentOf = (c: Context<Env>): Comment =>
    found(world.findComment(fullName(repoOf(c)), Number(c.req.param("id"))));
  function commentText(body: Record<string, unknown>): string {
    const text = body.body;
    if (typeof text !== "string" || text.trim() === "")
      throw invalid("IssueComment", "body", "missing_field");
    if (text.length > maxCommentLength) throw invalid("IssueComment", "body", "too_long");
    return text;
  }
  function notSuspended(): void {
    if (access.isSuspended()) throw new ApiError(403, "This installation has been suspended");
  }
  const appOnly = (c: Context<Env>) => {
    const app = access.app;
    if (app === undefined || c.get("caller").kind !== "app") {
      throw new ApiError(401, "A JSON web token could not be decoded");
    }
    return app;
  };

  api.use(async (c, next) => {
    const caller = access.callerOf(c.req.header("authorization") ?? null);
    if (caller === null) throw new ApiError(401, "Bad credentials");
    if (caller.kind === "installation") notSuspended();
    c.set("caller", caller);
    const [, name = "", rest = ""] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(c.req.path) ?? [];
    const renamed = world.findRepo(name) === undefined ? world.findRenamed(name) : undefined;
    if (renamed !== undefined) throw new Moved(`/repositories/${renamed.id}${rest}`);
    await next();
  });

  api.get("/user", (c) => {
    if (c.get("caller").kind === "installation") {
      throw new ApiError(403, "Resource not accessible by integration");
    }
    return c.json(userJson(userOf(c)));
  });

  api.get("/app", (c) => {
    const app = appOnly(c);
    return c.json({ id: app.id, slug: app.slug, name: app.slug });
  });
  api.get("/repos/:owner/:repo", (c) => {
    const repo = repoOf(c);
    const owner = found(world.findUser(repo.owner));
    return c.json(repositoryJson(repo, owner));
  });
  api.get("/repos/:owner/:repo/installation", (c) => {
    const app = appOnly(c);
    const { owner } = found(world.findRepo(`${c.req.param("owner")}/${c.req.param("repo")}`));
    const id = found(access.installationOf(owner));
    return c.json({ id, app_id: app.id, app_slug: app.slug });
  });
  api.post("/app/installations/:id/access_tokens", (c) => {
    appOnly(c);
    const id = Number(c.req.param("id"));
    if (!world.state.repos.some((repo) => repo.id === id)) throw notFound();
    notSuspended();
    const permissions = { issues: "write", pull_requests: "write", metadata: "read" };
    return c.json({ ...access.mint(id), permissions, repository_selection: "all" }, 201);
  });

  // Before the routes that would read their last segment as an issue's number.
  addRecentRoutes(api, world, repoOf);
  addHookRoutes(api, deliveries, appOnly, repoOf, hooksAllowed);

  api.get("/repos/:owner/:repo/issues/:number", (c) => c.json(world.describeIssue(issueOf(c))));

  api.get("/repos/:owner/:repo/issues/:number/comments", (c) => {
    const since = Date.parse(c.req.query("since") ?? "") || 0;
    const comments = world
      .commentsOf(issueOf(c))
      .filter((comment) => Date.parse(comment.updatedAt) >= since && world.isListed(comment));
    return c.json(page(c, comments).map(world.describeComment));
  });
  api.post("/repos/:owner/:repo/issues/:number/comments", async (c) => {
    const issue = issueOf(c);
    if (issue.locked) throw new ApiError(403, "Unable to create comment because issue is locked.");
    const { comment } = world.addComment(issue, commentText(await bodyOf(c)), userOf(c).login);
    return c.json(world.describeComment(comment), 201);
  });
  api.get("/repos/:owner/:repo/issues/comments/:id", (c) => c.json(world.describeComment(commentOf(c))));
  api.patch("/repos/:owner/:repo/issues/comments/:id", async (c) => {
    const comment = commentOf(c);
    void world.editComment(comment, commentText(await bodyOf(c)), userOf(c).login);
    return c.json(world.describeComment(comment));
  });
  api.delete("/repos/:owner/:repo/issues/comments/:id", (c) => {
    void world.deleteComment(commentOf(c), userOf(c).login);
    return c.body(null, 204);
  });
  api.post("/repos/:owner/:repo/issues/comments/:id/reactions", async (c) => {
    const { content } = await bodyOf(c);
    if (typeof content !== "string" || !reactionContents.includes(content)) {
      throw invalid("Reaction", "content", "invalid");
    }
    const user = userOf(c);
    const { reaction, created } = world.react(commentOf(c), content, user.login);
    return c.json({ id: reaction.id, content, user: userJson(user) }, created ? 201 : 200);
  });

  api.get("/repos/:owner/:repo/issues/:number/labels", (c) =>
    c.json(page(c, world.labelsOf(issueOf(c))).map(labelJson)),
  );
  async function labelNames(c: Context<Env>): Promise<string[]> {
    const body: unknown = await c.req.json();
    const names = Array.isArray(body) ? body : Object(body).labels;
    if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) {
      throw invalid("Label", "name", "invalid");
    }
    return names;
  }
  api.post("/repos/:owner/:repo/issues/:number/labels", async (c) => {
    const issue = issueOf(c);
    world.addLabels(issue, await labelNames(c), userOf(c).login);
    return c.json(world.labelsOf(issue).map(labelJson));
  });
  api.put("/repos/:owner/:repo/issues/:number/labels", async (c) => {
    const issue = issueOf(c);
    world.setLabels(issue, await labelNames(c), userOf(c).login);
    return c.json(world.labelsOf(issue).map(labelJson));
  });
  api.delete("/repos/:owner/:repo/issues/:number/labels/:name", (c) => {
    const issue = issueOf(c);
    if (world.removeLabel(issue, c.req.param("name"), userOf(c).login) === undefined) {
      throw new ApiError(404, "Label does not exist");
    }
    return c.json(world.labelsOf(issue).map(labelJson));
  });
  api.get("/repos/:owner/:repo/labels/:name", (c) => {
    const name = c.req.param("name");
    return c.json(labelJson(found(repoOf(c).labels.find((label) => same(label.name, name)))));
  });
  api.post("/repos/:owner/:repo/labels", async (c) => {
    const repo = repoOf(c);
    const { name, color, description } = await bodyOf(c);
    if (typeof name !== "string" || name === "") throw invalid("Label", "name", "missing_field");
    if (repo.labels.some((label) => same(label.name, name))) {
      throw invalid("Label", "name", "already_exists");
    }
    const text = typeof description === "string" ? description : null;
    return c.json(
      labelJson(world.createLabel(repo, name, typeof color === "string" ? color : plainColor, text)),
      201,
    );
  });

  api.get("/repos/:owner/:repo/collaborators/:login/permission", (c) => {
    const repo = repoOf(c);
    const login = c.req.param("login");
    const user = world.findUser(login);
    if (user === undefined || user.type === "Bot") throw new ApiError(404, `${login} is not a user`);
    const role = world.roleOf(repo, login);
    return c.json({ permission: legacyPermission(role), role_name: role, user: userJson(user) });
  });

  api.notFound((c) => c.json({ message: "Not Found", documentation_url: documentation, status: "404" }, 404));
  api.onError((error, c) => {
    if (error instanceof Moved) {
      const { origin, search } = new URL(c.req.url);
      const url = `${origin}${error.path}`;
      const body = { message: error.message, url, documentation_url: documentation };
      // A repository's redirect keeps the method; an issue's does not.
      const keeps = c.req.method !== "GET" && !c.req.path.includes("/issues/");
      return c.json(body, keeps ? 307 : 301, { location: `${url}${search}` });
    }
    if (!(error instanceof ApiError)) return c.json({ message: "Server Error" }, 500);
    const { status, message, errors } = error;
    const body = { message, errors, documentation_url: documentation, status: String(status) };
    return c.json(body, status);
  });
  return api;
}
