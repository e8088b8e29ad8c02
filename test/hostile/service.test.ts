/** The embedded service under random and hostile requests: every answer follows the contract, and it keeps working. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { listResponse, problem } from "#agent-runs/schema.ts";
import { type Serving, serving } from "#test/support/service/serving.ts";
import { brokenBodies, deepJson, deepObject, deranged } from "./deranged.ts";

const runs = (numRuns: number) => ({ numRuns, seed: 7, endOnFailure: true });
const word = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    "\0",
    "../../../etc/passwd",
    "..%2f..",
    "%ff%fe",
    "__proto__",
    "<!channel>",
    "1e999",
    "NaN",
  ),
  fc.constantFrom(
    "-1",
    "0",
    "501",
    "2026-02-31T00:00:00Z",
    "+999999-01-01T00:00:00Z",
    "[]",
    "constructor",
    "\ud800",
  ),
);

/** Below 500, and a problem document unless it is a success. */
async function meant(response: Response): Promise<number> {
  const text = await response.text();
  expect(response.status, text.slice(0, 300)).toBeLessThan(500);
  if (response.status >= 400) problem.parse(JSON.parse(text));
  return response.status;
}

/** Expects that a new run succeeds, is listed, and causes no error. */
async function stillWorks({ api, lines }: Serving): Promise<void> {
  const id = await api.create({ prompt: "still there?" });
  await api.until(id, "SUCCEEDED");
  let cursor = "";
  do {
    const page = await api.list(`limit=100&sort_by=created_at${cursor === "" ? "" : `&cursor=${cursor}`}`);
    cursor = page.page_info.next_cursor ?? "";
  } while (cursor !== "");
  expect(lines.filter(({ message }) => message === "a request failed")).toEqual([]);
}

const creation = {
  prompt: "do it",
  title: "A title",
  config: {
    name: "n",
    model_id: "m",
    base_prompt: "b",
    environment_id: "e",
    mcp_servers: { one: { command: "c", args: ["a"], env: { A: "b" } } },
  },
  skill: "octo/app:skill",
  metadata: { key: "value" },
  parent_run_id: "p",
};

test("random bodies of almost the right shape cause no server error", async () => {
  const it = await serving({ demoStepMs: 1 });
  const known = await it.api.create({ prompt: "the first" });
  await fc.assert(
    fc.asyncProperty(
      deranged(creation),
      deranged({ message: "go on", mode: "normal" }),
      async (body, message) => {
        await meant(await it.api.send("POST", "/agent/runs", body));
        await meant(await it.api.send("POST", `/agent/runs/${known}/followups`, message));
      },
    ),
    runs(100),
  );
  const bodies = [...brokenBodies, deepObject(10_000), deepObject(100_000)];
  const deep = [
    `{"prompt":"p","config":{"x":${deepJson(10_000)}}}`,
    `{"prompt":"p","x":${deepObject(10_000)}}`,
  ];
  for (const body of [...bodies, ...deep, `{"prompt":"p","metadata":${deepObject(10_000)}}`]) {
    for (const path of ["/agent/run", `/agent/runs/${known}/followups`]) {
      await meant(await it.api.send("POST", path, body, { "content-type": "text/plain" }));
    }
  }
  for (const type of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded", "x"]) {
    await meant(await it.api.send("POST", "/agent/run", "prompt=x", { "content-type": type }));
  }
  await stillWorks(it);
});

test("random queries and cursors cause no server error", async () => {
  const it = await serving({ demoStepMs: 1 });
  for (const title of ["a", "b", "c"]) await it.api.create({ prompt: title, metadata: { k: title } });
  const real = (await it.api.list("limit=1")).page_info.next_cursor ?? "";
  const name = fc.constantFrom(
    ...["limit", "cursor", "sort_by", "sort_order", "state", "name", "created_after", "updated_after", "q"],
    ...[
      "metadata[k]",
      "metadata[]",
      "metadata[__proto__]",
      "metadata",
      "skill_spec",
      "__proto__",
      "constructor",
    ],
  );
  const cursor = fc.oneof(
    fc
      .nat(1_000)
      .map((at) => real.slice(0, at % (real.length + 1)) + (at % 2 ? "A" : "") + real.slice(at % 7)),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
    fc
      .tuple(word, word, word, fc.double())
      .map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
  );
  const pair = fc.oneof(fc.tuple(name, word), fc.tuple(fc.constant("cursor"), cursor));
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { maxLength: 8 }), async (pairs) => {
      const response = await it.api.send("GET", `/agent/runs?${new URLSearchParams(pairs)}`);
      if ((await meant(response.clone())) === 200) listResponse.parse(await response.json());
    }),
    runs(250),
  );
  for (const query of ["%", "limit=%ff", "&&&===", "state=".repeat(1_000), `q=${"x".repeat(10_000)}`]) {
    await meant(await it.api.send("GET", `/agent/runs?${query}`));
  }
  await stillWorks(it);
});

test("random ids, including those that point outside the folder, find no run", async () => {
  const it = await serving({ demoStepMs: 1 });
  const known = await it.api.create({ prompt: "the first" });
  const id = fc.oneof(
    word.map((text) => encodeURIComponent(text.toWellFormed())),
    fc.constantFrom(
      "..%2F..%2Fservice",
      `..%2fruns%2f${known}`,
      `${known}.json`,
      `${known}%00`,
      `%2e%2e%2f${known}`,
    ),
    fc.constantFrom(
      `./${known}x`,
      "%",
      "%E0%A4%A",
      "%c0%ae%c0%ae",
      known.toUpperCase().replace(/^./, "Z"),
      "x".repeat(8_000),
    ),
  );
  const ways = fc.constantFrom<readonly [string, string]>(
    ["GET", ""],
    ["GET", "/conversation"],
    ["POST", "/followups"],
    ["POST", "/cancel"],
    ["DELETE", ""],
  );
  await fc.assert(
    fc.asyncProperty(id, ways, async (run, [method, rest]) => {
      const body = method === "POST" ? { message: "go on" } : undefined;
      const status = await meant(await it.api.send(method, `/agent/runs/${run}${rest}`, body));
      // An empty id and one of dots are other paths.
      if (run !== "" && !run.startsWith(".")) expect([404, 405]).toContain(status);
      const session = await it.api.send("GET", `/sessions/${run}?key=${run}`);
      expect(await meant(session)).toBe(404);
    }),
    runs(200),
  );
  await stillWorks(it);
});

test("random metadata is kept exactly or refused", async () => {
  const it = await serving({ demoStepMs: 1 });
  const key = fc.oneof(fc.constantFrom("constructor", "toString", "a.b", "", "é", "k".repeat(65)), word);
  const value = fc.oneof(word, fc.constant("v".repeat(257)), fc.constant("é".repeat(128)));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(key, value), { maxLength: 22 }), async (pairs) => {
      // The schema drops this name, which would set the prototype.
      const metadata = Object.fromEntries(pairs.filter(([name]) => name !== "__proto__"));
      const response = await it.api.send("POST", "/agent/run", { prompt: "p", metadata });
      if ((await meant(response.clone())) !== 200) return;
      const { run_id: id } = (await response.json()) as { run_id: string };
      const found = (await (await it.api.send("GET", `/agent/runs/${id}`)).json()) as { metadata?: object };
      expect(Object.entries(found.metadata ?? {}).sort()).toEqual(Object.entries(metadata).sort());
    }),
    runs(100),
  );
  await stillWorks(it);
});
