import { expect, test } from "vitest";
import { AmbiguousFactoryError } from "#agent-runs/errors.ts";
import { type Handler, problem, rejection, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const payments = { uid: "f-1", name: "Payments factory", alias: "pay", team_uid: "t-1" };
const payments2 = { uid: "f-2", name: "Payments factory 2", alias: null };
const twin = { uid: "f-3", name: "Payments factory 2", alias: null };

/** Two to a page, found by parts of a name as the service does it. */
const factories =
  (...all: { uid: string; name: string; alias: string | null }[]): Handler =>
  ({ url }) => {
    const uid = url.pathname.split("/factory/")[1];
    if (uid !== undefined) {
      const body = all.find((each) => each.uid === uid);
      return body === undefined ? problem("resource_not_found", 404) : { body };
    }
    const part = (url.searchParams.get("search") ?? "").toLowerCase();
    const found = all.filter((each) => `${each.name}\n${each.alias}`.toLowerCase().includes(part));
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const has_next_page = from + 2 < found.length;
    const page_info = has_next_page ? { has_next_page, next_cursor: String(from + 2) } : { has_next_page };
    return { body: { factories: found.slice(from, from + 2), page_info } };
  };

test.each(["f-1", "pay", "PAY", "Payments factory", " payments FACTORY "])(
  "%j finds its factory",
  async (name) => {
    await using api = await startLocalApi(factories(payments2, payments));
    expect(await api.client().findFactory(name)).toBe("f-1");
  },
);

test("a factory on a later page is found", async () => {
  const others = ["a", "b", "c"].map((uid) => ({ uid, name: `pay ${uid}`, alias: null }));
  await using api = await startLocalApi(factories(...others, payments));
  expect(await api.client().findFactory("pay")).toBe("f-1");
});

test.each(["paym", "unknown", "", "..", "a/b"])(
  "%j, which is no factory's whole name, finds none",
  async (name) => {
    await using api = await startLocalApi(factories(payments, payments2));
    expect(await api.client().findFactory(name)).toBeNull();
  },
);

test("an alias goes before another factory's name", async () => {
  await using api = await startLocalApi(factories({ uid: "f-9", name: "pay", alias: null }, payments));
  expect(await api.client().findFactory("pay")).toBe("f-1");
});

test("a name of several factories is an error, not a guess", async () => {
  await using api = await startLocalApi(factories(payments2, twin));
  const error = await rejection(api.client().findFactory("payments factory 2"));
  expect(error).toBeInstanceOf(AmbiguousFactoryError);
  expect(error).toMatchObject({ certainty: "not-sent", retryable: false });
});

test("a service without factories finds none", async () => {
  await using api = await startLocalApi(() => ({ status: 404, body: "not here" }));
  expect(await api.client().findFactory("pay")).toBeNull();
});

test("a failed search is not the same as finding none", async () => {
  await using api = await startLocalApi(() => problem("feature_not_available", 403));
  expect(await rejection(api.client().findFactory("pay"))).toMatchObject({ status: 403 });
});

test("factories are listed by page and completely, and one is fetched by its uid", async () => {
  await using api = await startLocalApi(factories(payments, payments2, twin));
  const client = api.client();
  const page = await client.factories({ search: "payments", limit: 2 });
  expect(page.factories.map(({ uid }) => uid)).toEqual(["f-1", "f-2"]);
  expect(page.page_info?.has_next_page).toBe(true);
  const all: string[] = [];
  for await (const { uid } of client.allFactories({ search: "payments" })) all.push(uid);
  expect(all).toEqual(["f-1", "f-2", "f-3"]);
  expect(await client.factory("f-1")).toEqual(payments);
  expect(await rejection(client.factory("f-9"))).toMatchObject({ name: "NotFoundError" });
});

test("a dispatch can carry a title and a ticket, and the answer names the factory", async () => {
  const body = {
    run_id: "run-1",
    state: "QUEUED",
    factory_uid: "f-1",
    foreman_agent: "Fran",
    ticket_ref: "a:1",
  };
  await using api = await startLocalApi(() => ({ body }));
  const asked = { prompt: "build it", title: "Build", ticket_ref: "linear:APP-1" };
  expect(await api.client().dispatchToFactory("f-1", asked)).toEqual(body);
  expect(api.seen.map(({ method, url, body: sent }) => [method, url.pathname, JSON.parse(sent)])).toEqual([
    ["POST", "/api/v1/factory/f-1/runs", asked],
  ]);
});

test.each(["", " \n"])("a dispatch of %j is not sent", async (prompt) => {
  await using api = await startLocalApi(() => ({ body: {} }));
  for (const asked of [prompt, { prompt }]) {
    const error = await rejection(api.client().dispatchToFactory("f-1", asked));
    expect(error).toMatchObject({ name: "InvalidRequestError", fields: ["prompt"], certainty: "not-sent" });
  }
  expect(api.seen).toEqual([]);
});
