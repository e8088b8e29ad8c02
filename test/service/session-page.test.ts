import { expect, test } from "vitest";
import { serving } from "./serving.ts";

test("a run's session link shows what was asked and answered, as text and to read only", async () => {
  const { api } = await serving({ command: "echo '<script>alert(1)</script> & <b>bold</b>'" });
  const id = await api.create({ prompt: "Is 1 < 2 & 3?", title: "<img src=x onerror=alert(1)>" });
  const { session_link } = await api.until(id, "SUCCEEDED");
  const answer = await fetch(session_link ?? "");
  const page = await answer.text();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(page).toContain("Is 1 &lt; 2 &amp; 3?");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;bold&lt;/b&gt;");
  expect(page).toContain("Succeeded");
  expect(page).not.toMatch(/<script|<img|<b>/);
});

test("without the run's own key its page is not there", async () => {
  const { api } = await serving({ command: "cat" });
  const [one, other] = [await api.create({ prompt: "one" }), await api.create({ prompt: "other" })];
  const link = new URL((await api.run(one)).session_link ?? "");
  const wrong = new URL((await api.run(other)).session_link ?? "").searchParams.get("key") ?? "";
  for (const key of [null, "", wrong]) {
    if (key === null) link.searchParams.delete("key");
    else link.searchParams.set("key", key);
    expect((await fetch(link)).status).toBe(404);
  }
});
