/** Webhooks as seen through the REST API: the App's one, and the repository's one. */
import type { Context, Hono } from "hono";
import { ApiError, type Env, linkTo, sizeOf } from "./answers.ts";
import type { Deliveries, Delivery } from "./deliveries.ts";
import type { Repository } from "./snapshot.ts";

const hookId = 1;

export interface HookRoutesOptions {
  readonly deliveries: Deliveries;
  /** Throws unless the App itself is asking. */
  readonly appOnly: (c: Context<Env>) => unknown;
  readonly repoOf: (c: Context<Env>) => Repository;
  readonly hooksAllowed: () => boolean;
}

const itemJson = ({ id, guid, at, redelivery, durationMs, status, event, action, repository }: Delivery) => ({
  id,
  guid,
  delivered_at: at,
  redelivery,
  duration: durationMs / 1000,
  status: status === null ? "failed to connect to host" : status < 300 ? "OK" : "Invalid HTTP Response",
  status_code: status ?? 502,
  event,
  action,
  installation_id: null,
  repository_id: repository,
  throttled_at: null,
});

/** Ids of deliveries are integers that no JavaScript number holds. */
const answer = (c: Context<Env>, value: unknown): Response =>
  c.body(JSON.stringify(value).replaceAll(/"id":"(\d+)"/g, '"id":$1'), 200, {
    "content-type": "application/json; charset=utf-8",
  });

export function addHookRoutes(
  api: Hono<Env>,
  { deliveries, appOnly, repoOf, hooksAllowed }: HookRoutesOptions,
): void {
  /** One page, the newest first; the cursor names the last one of the page before. */
  function list(c: Context<Env>, all: readonly Delivery[]): Response {
    const newest = all.toReversed();
    const cursor = c.req.query("cursor");
    const start = cursor === undefined ? 0 : newest.findIndex(({ id }) => `v1_${id}` === cursor) + 1;
    const items = newest.slice(start, start + sizeOf(c));
    const last = items.at(-1);
    if (last !== undefined && start + items.length < newest.length) {
      c.header("link", linkTo(c, "next", "cursor", `v1_${last.id}`));
    }
    return answer(c, items.map(itemJson));
  }

  function deliveryOf(c: Context<Env>, all: readonly Delivery[]): Delivery {
    const found = all.find(({ id }) => id === c.req.param("delivery"));
    if (found === undefined) throw new ApiError(404, "Not Found");
    return found;
  }

  function show(c: Context<Env>, delivery: Delivery): Response {
    const payload: unknown = JSON.parse(deliveries.bodyOf(delivery.guid));
    const { status } = delivery;
    return answer(c, {
      ...itemJson(delivery),
      url: deliveries.url(),
      request: { headers: { "X-GitHub-Delivery": delivery.guid }, payload },
      response: { headers: status === null ? null : {}, payload: null },
    });
  }

  /** Accepted at once, delivered after that. */
  function redeliver(c: Context<Env>, { guid }: Delivery): Response {
    deliveries.redeliverLater(guid);
    return c.json({}, 202);
  }

  const ofApp = (c: Context<Env>): readonly Delivery[] => {
    appOnly(c);
    return deliveries.log;
  };
  api.get("/app/hook/deliveries", (c) => list(c, ofApp(c)));
  api.get("/app/hook/deliveries/:delivery", (c) => show(c, deliveryOf(c, ofApp(c))));
  api.post("/app/hook/deliveries/:delivery/attempts", (c) => redeliver(c, deliveryOf(c, ofApp(c))));

  function repoWithHooks(c: Context<Env>): Repository {
    const repo = repoOf(c);
    if (c.get("caller").kind !== "user" || !hooksAllowed()) {
      throw new ApiError(403, "Resource not accessible by personal access token");
    }
    return repo;
  }
  const ofRepo = (c: Context<Env>): readonly Delivery[] => {
    const repo = repoWithHooks(c);
    if (c.req.param("hook") !== String(hookId)) throw new ApiError(404, "Not Found");
    return deliveries.log.filter(({ repository }) => repository === repo.id);
  };
  const hooks = "/repos/:owner/:repo/hooks";
  api.get(hooks, (c) => {
    repoWithHooks(c);
    const config = { url: deliveries.url(), content_type: "json", insecure_ssl: "0", secret: "********" };
    const events = ["issues", "issue_comment", "pull_request"];
    return c.json([{ type: "Repository", id: hookId, name: "web", active: true, events, config }]);
  });
  api.get(`${hooks}/:hook/deliveries`, (c) => list(c, ofRepo(c)));
  api.get(`${hooks}/:hook/deliveries/:delivery`, (c) => show(c, deliveryOf(c, ofRepo(c))));
  api.post(`${hooks}/:hook/deliveries/:delivery/attempts`, (c) => redeliver(c, deliveryOf(c, ofRepo(c))));
}
