/** The App's webhook and the repository's webhook in the REST API. */
import type { Context, Hono } from "hono";
import { ApiError, type Env, found, linkTo, notFound, sizeOf } from "./answers.ts";
import type { Deliveries, Delivery } from "./deliveries.ts";
import type { Repository } from "./snapshot.ts";

const hookId = 1;

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

/** Ids of deliveries are integers too large for a JavaScript number. */
const answer = (c: Context<Env>, value: unknown): Response =>
  c.body(JSON.stringify(value).replaceAll(/"id":"(\d+)"/g, '"id":$1'), 200, {
    "content-type": "application/json; charset=utf-8",
  });

/** Adds the routes of both webhooks. `appOnly` throws unless the caller is the App itself. */
export function addHookRoutes(
  api: Hono<Env>,
  deliveries: Deliveries,
  appOnly: (c: Context<Env>) => unknown,
  repoOf: (c: Context<Env>) => Repository,
  hooksAllowed: boolean,
): void {
  /** One page, newest first; the cursor names the last delivery of the previous page. */
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

  const deliveryOf = (c: Context<Env>, all: readonly Delivery[]): Delivery =>
    found(all.find(({ id }) => id === c.req.param("delivery")));

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

  /** Accepts the request at once, and delivers later. */
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
    if (c.get("caller").kind !== "user" || !hooksAllowed) {
      throw new ApiError(403, "Resource not accessible by personal access token");
    }
    return repo;
  }
  const ofRepo = (c: Context<Env>): readonly Delivery[] => {
    const repo = repoWithHooks(c);
    if (c.req.param("hook") !== String(hookId)) throw notFound();
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
