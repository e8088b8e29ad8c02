import { expect, test } from "vitest";
import { openSandbox } from "#test/support/sandbox/opened-sandbox.ts";

test("the page loads nothing from other sites, runs nothing inline and can't be framed", async () => {
  const { url } = await openSandbox();
  const page = await fetch(`${url}/sandbox`);
  expect(page.status).toBe(200);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain("unsafe");
  const html = await page.text();
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  expect(html).not.toMatch(/(?:src|href)="(?!\/sandbox\/page\/|#)/);
});

test("every file that the page and its scripts refer to exists", async () => {
  const { url } = await openSandbox();
  const waiting = [`${url}/sandbox`];
  const loaded = new Map<string, string>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (loaded.has(next)) continue;
    const answer = await fetch(next);
    const type = answer.headers.get("content-type") ?? "";
    expect([next, answer.status]).toEqual([next, 200]);
    loaded.set(next, type);
    const text = await answer.text();
    const found = type.includes("javascript")
      ? text.matchAll(/^import .* from "([^"]+)";$/gm)
      : text.matchAll(/(?:src|href)="(\/sandbox\/[^"]+)"/g);
    for (const [, address = ""] of found) waiting.push(new URL(address, next).href);
  }
  const types = [...loaded.values()].map((type) => type.split(";")[0]);
  expect(new Set(types)).toEqual(new Set(["text/html", "text/css", "text/javascript", "image/svg+xml"]));
  expect(loaded.size).toBeGreaterThan(10);
});

test("the page's scripts never turn text into markup", async () => {
  const { url } = await openSandbox();
  for (const name of [
    "page",
    "act",
    "dom",
    "github",
    "guide",
    "issue",
    "message",
    "rich",
    "slack",
    "thread",
  ]) {
    const script = await (await fetch(`${url}/sandbox/page/${name}.js`)).text();
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|DOMParser/);
  }
});

test.each([
  "/sandbox/page/../sandbox.ts",
  "/sandbox/page/%2e%2e%2fsandbox.ts",
  "/sandbox/page/sandbox.ts",
  "/sandbox/page/",
  "/sandbox/page/page.js/x",
  "/sandbox/nothing",
])("%s is not found", async (path) => {
  const { url } = await openSandbox();
  const answer = await fetch(`${url}${path}`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toEqual({ ok: false, error: "There is nothing at this path." });
});
