import { readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { problemOf, serving } from "#test/support/service/serving.ts";
import { linkOf, reading } from "#test/support/service/session-reader.ts";

const leaving = `cat >/dev/null; printf '<script>alert(1)</script>' > "$AGENT_ARTIFACTS/page of é.html"`;

test("an artifact can be downloaded from the run's page and is never displayed as a page of the service", async () => {
  const { api } = await serving({ command: leaving });
  const [id, other] = [await api.create({ prompt: "x" }), await api.create({ prompt: "y" })];
  const run = await api.until(id, "SUCCEEDED");
  const { path, key } = await linkOf(api, id);
  const reader = await reading(path, key);
  await eventually("the file", () => reader.received[0]?.message.view?.artifacts.length === 1);
  const uid = reader.received[0]?.message.view?.artifacts[0]?.uid ?? "";
  expect(uid).toBe(run.artifacts?.[0]?.data?.artifact_uid);

  const file = await fetch(`${path}/artifacts/${uid}?key=${key}`);
  expect(await file.text()).toBe("<script>alert(1)</script>");
  expect(Object.fromEntries(file.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment; filename*=UTF-8''page%20of%20%C3%A9.html",
    "content-length": "25",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
  });
  const head = await fetch(`${path}/artifacts/${uid}?key=${key}`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "25"]);

  const elsewhere = await linkOf(api, other);
  for (const address of [
    `${path}/artifacts/${uid}`,
    `${path}/artifacts/${uid}?key=${elsewhere.key}`,
    `${path}/artifacts/none?key=${key}`,
    `${path}/artifacts/..%2f..%2fpasswd?key=${key}`,
    `${elsewhere.path}/artifacts/${uid}?key=${elsewhere.key}`,
  ]) {
    expect(await problemOf(fetch(address))).toMatchObject({ http: 404 });
  }
});

test("an artifact that is gone or has become a link is not served", async () => {
  const { api, folder } = await serving({ command: leaving });
  const id = await api.create({ prompt: "x" });
  const { artifacts } = await api.until(id, "SUCCEEDED");
  const { path, key } = await linkOf(api, id);
  const data = artifacts?.[0]?.data;
  const at = join(folder, "service", "artifacts", id, String(data?.filepath));
  const secret = join(folder, "service", "runs.db");
  expect((await readFile(secret)).length).toBeGreaterThan(0);
  await rm(at);
  const ask = () => problemOf(fetch(`${path}/artifacts/${data?.artifact_uid}?key=${key}`));
  expect(await ask()).toMatchObject({ http: 404 });
  await symlink(secret, at);
  expect(await ask()).toMatchObject({ http: 404 });
});
