import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { newRun } from "#service/run/new-run.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { serving } from "#test/support/service/serving.ts";
import { linkOf } from "#test/support/service/session-reader.ts";

const hostile = "<script>alert(1)</script> & <b>bold</b> </script> javascript:alert(1)";

test("a session link shows request and answer as text, without scripts too", async () => {
  const { api } = await serving({ command: `echo '${hostile}'` });
  const id = await api.create({ prompt: "Is 1 < 2 & 3?", title: "<img src=x onerror=alert(1)>" });
  const { session_link } = await api.until(id, "SUCCEEDED");
  const answer = await fetch(session_link ?? "");
  const page = await answer.text();
  const [script = ""] = page.match(/<script type="module">[\s\S]*?<\/script>/) ?? [];
  const readable = page.replace(script, "");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(readable).toContain("<title>Succeeded: &lt;img src=x onerror=alert(1)&gt;</title>");
  expect(readable).toContain("Is 1 &lt; 2 &amp; 3?");
  expect(readable).toContain(
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;bold&lt;/b&gt; &lt;/script&gt;",
  );
  expect(readable).not.toMatch(/<script|<img|<b>|href="javascript/);
});

test("the page loads nothing from elsewhere, runs only its own script and leaks no referrer", async () => {
  const { api } = await serving({ command: "cat", sessionLinks: "steer" });
  const id = await api.create({ prompt: "one" });
  const answer = await fetch((await api.until(id, "SUCCEEDED")).session_link ?? "");
  const page = await answer.text();
  const script = /<script type="module">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? "";
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? "";
  const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  expect(answer.headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  // Throws if the joined modules are not a script.
  expect(new Script(script)).toBeTruthy();
  expect(script.length).toBeGreaterThan(1000);
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toMatch(/\s(src|style|on\w+)=/);
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(answer.headers.get("x-robots-tag")).toBe("noindex");
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("an unfinished run's page reloads by itself without scripts", async () => {
  const { api } = await serving({ command: "cat; sleep 20" });
  const id = await api.create({ prompt: "one" });
  const link = (await api.until(id, "INPROGRESS")).session_link ?? "";
  expect(await (await fetch(link)).text()).toMatch(/<noscript><meta http-equiv="refresh"/);
  await api.cancel(id);
  expect(await (await fetch(link)).text()).not.toContain("http-equiv");
});

test("a run's page and stream need a key of that run", async () => {
  const { api } = await serving({ command: "cat" });
  const [one, other] = [await api.create({ prompt: "one" }), await api.create({ prompt: "other" })];
  const { path } = await linkOf(api, one);
  const { key: wrong } = await linkOf(api, other);
  for (const query of ["", "?key=", `?key=${wrong}`]) {
    expect((await fetch(`${path}${query}`)).status).toBe(404);
    expect((await fetch(`${path}/events${query}`)).status).toBe(404);
  }
  expect((await fetch(`${path.replace(one, "none")}?key=${wrong}`)).status).toBe(404);
});

test("a link from before steering keys still reads and never steers", async () => {
  const folder = await freshFolder();
  const old = "A".repeat(32);
  const {
    artifacts: _,
    factoryUid: __,
    attachments: ___,
    ...run
  } = newRun(
    { prompt: "an old prompt" },
    { id: "old", order: 1, now: 1_800_000_000_000, sessionKey: old, earlier: [] },
  ).run;
  const document = { version: 1, run: { ...run, state: "FAILED", pullRequests: [] }, said: [], waiting: [] };
  await mkdir(join(folder, "service", "runs"), { recursive: true });
  const file = join(folder, "service", "runs", "old.json");
  await writeFile(file, JSON.stringify({ ...document, turn: 0, turnBegan: null }));

  const { api } = await serving({ folder, command: "cat", sessionLinks: "steer" });
  const { path, key } = await linkOf(api, "old");
  expect(key).toBe(old);
  const page = await (await fetch(`${path}?key=${old}`)).text();
  expect(page).toContain('<h1 id="title">an old prompt</h1>');
  expect(page).not.toContain('id="follow-up"');
  const sent = await fetch(`${path}/cancel`, { method: "POST", headers: { "x-session-key": old } });
  expect(sent.status).toBe(403);
});

test("no key, prompt or answer is logged", async () => {
  const { api, lines } = await serving({ command: "cat", sessionLinks: "steer" });
  const id = await api.create({ prompt: "the-prompt" });
  await api.until(id, "SUCCEEDED");
  const { path, key } = await linkOf(api, id);
  await (await fetch(`${path}?key=${key}`)).text();
  await (await fetch(`${path}/events?key=${key}`)).body?.cancel();
  await fetch(`${path}/cancel?key=${key}`, { method: "POST", headers: { "x-session-key": key } });
  const logged = JSON.stringify(lines);
  expect(logged).toContain(`/sessions/${id}/events`);
  expect(logged).not.toContain(key);
  expect(logged).not.toContain("the-prompt");
});
