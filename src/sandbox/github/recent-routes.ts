/** The lists of a whole repository's issues, comments and issue events. */
import type { Context, Hono } from "hono";
import { type Env, page } from "./answers.ts";
import { eventJson } from "./payloads.ts";
import type { IssueEvent, Repository } from "./snapshot.ts";
import type { World } from "./world.ts";

interface Dated {
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Adds the three routes. */
export function addRecentRoutes(api: Hono<Env>, world: World, repoOf: (c: Context<Env>) => Repository): void {
  const nameOf = (c: Context<Env>): string => {
    const { owner, name } = repoOf(c);
    return `${owner}/${name}`;
  };

  /** The items last changed since `since`, in the requested order. */
  function chosen<T extends Dated>(c: Context<Env>, all: readonly T[]): readonly T[] {
    const since = Date.parse(c.req.query("since") ?? "") || 0;
    const recent = all.filter(({ updatedAt }) => Date.parse(updatedAt) >= since);
    const key = c.req.query("sort") === "updated" ? "updatedAt" : "createdAt";
    const sorted = recent.toSorted((one, other) => Date.parse(one[key]) - Date.parse(other[key]));
    return c.req.query("direction") === "desc" ? sorted.toReversed() : sorted;
  }

  api.get("/repos/:owner/:repo/issues", (c) => {
    const name = nameOf(c);
    const state = c.req.query("state") ?? "open";
    const issues = world.state.issues.filter(
      (issue) => issue.repo === name && (state === "all" || issue.state === state),
    );
    return c.json(page(c, chosen(c, issues)).map(world.describeIssue));
  });

  api.get("/repos/:owner/:repo/issues/comments", (c) => {
    const name = nameOf(c);
    const comments = world.state.comments.filter((one) => one.repo === name && world.isListed(one));
    return c.json(page(c, chosen(c, comments)).map(world.describeComment));
  });

  // Always newest first.
  api.get("/repos/:owner/:repo/issues/events", (c) => {
    const name = nameOf(c);
    const isShown = (event: IssueEvent): boolean => event.issue.repo === name && world.isListed(event);
    const events = world.issueEvents.filter(isShown).toReversed();
    return c.json(
      page(c, events).map((event) =>
        eventJson(event, world.findUser(event.actor), world.describeIssue(event.issue)),
      ),
    );
  });
}
