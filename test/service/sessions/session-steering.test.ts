import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Api, problemOf, serving } from "#test/support/service/serving.ts";
import { linkOf } from "#test/support/service/session-reader.ts";

const held = "cat; while ! test -e ../go; do sleep 0.02; done";

async function steeringOf(api: Api, id: string) {
  const { path, key } = await linkOf(api, id);
  const post = (name: string, headers: Record<string, string>, body?: unknown) =>
    fetch(`${path}/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { path, key, post };
}

test("a link with the right to steer sends follow-ups and cancels like the API", async () => {
  const { api, folder } = await serving({ command: held, sessionLinks: "steer" });
  const id = await api.create({ prompt: "first" });
  await api.until(id, "INPROGRESS");
  const { path, key, post } = await steeringOf(api, id);
  const page = await (await fetch(`${path}?key=${key}`)).text();
  expect(page).toContain('id="follow-up"');
  expect(page).toContain('id="cancel"');
  const steers = { "x-session-key": key };
  const sent = await post("followups", steers, { message: "second" });
  expect([sent.status, await sent.json()]).toEqual([200, {}]);
  expect((await api.said(id)).at(-1)).toBe("user: second");
  const stopped = await post("cancel", steers);
  expect([stopped.status, await stopped.json()]).toEqual([200, id]);
  expect((await api.run(id)).state).toBe("CANCELLED");

  expect(await problemOf(post("cancel", steers))).toMatchObject({
    http: 400,
    detail: expect.stringMatching(/ended/),
  });
  expect(await problemOf(post("followups", steers, { message: " \n" }))).toMatchObject({
    http: 400,
    detail: expect.stringContaining("message"),
  });
  await writeFile(join(folder, "work", "go"), "");
  expect((await post("followups", steers, { message: "third" })).status).toBe(200);
  await api.until(id, "SUCCEEDED");
});

test("a read-only link can't steer, and its page offers no controls", async () => {
  const { api } = await serving({ command: held });
  const id = await api.create({ prompt: "first" });
  await api.until(id, "INPROGRESS");
  const { path, key, post } = await steeringOf(api, id);
  const page = await (await fetch(`${path}?key=${key}`)).text();
  expect(page).not.toMatch(/<(form|button id="cancel"|textarea|dialog)/);
  for (const answer of [
    post("followups", { "x-session-key": key }, { message: "second" }),
    post("cancel", { "x-session-key": key }),
  ]) {
    expect(await problemOf(answer)).toMatchObject({
      http: 403,
      type: expect.stringMatching(/\/not_authorized$/),
    });
  }
  expect((await api.run(id)).state).toBe("INPROGRESS");
  expect(await api.said(id)).not.toContain("user: second");
});

test("steering needs the key in a header, which a browser never sends by itself", async () => {
  const { api } = await serving({ command: held, sessionLinks: "steer" });
  const id = await api.create({ prompt: "first" });
  await api.until(id, "INPROGRESS");
  const { key, post } = await steeringOf(api, id);
  for (const answer of [
    post(`cancel?key=${key}`, {}),
    post("cancel", { cookie: `key=${key}` }),
    post("cancel", { "x-session-key": "" }),
    post("followups", {}, { message: "second", key }),
  ]) {
    expect(await problemOf(answer)).toMatchObject({ http: 404 });
  }
  const asked = await fetch((await linkOf(api, id)).path.concat("/cancel"), {
    method: "OPTIONS",
    headers: { origin: "https://example.com", "access-control-request-headers": "x-session-key" },
  });
  expect(asked.headers.get("access-control-allow-headers")).toBeNull();
  expect((await api.run(id)).state).toBe("INPROGRESS");
});
