import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBot } from "#test/support/bot/start-bot.ts";
import type { Child } from "#test/support/child.ts";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { alive } from "#test/support/processes.ts";
import { apiAt } from "#test/support/service/serving.ts";

/** Starts the service alone in `folder`, as `npm run service` does. */
const alone = (folder: string, env: Readonly<Record<string, string>> = {}): Promise<Child> =>
  startBot(env, { cwd: folder, scriptArgs: ["service"] });

test("started alone, the service makes a key, keeps it for its owner, and prints its file but not its value", async () => {
  const folder = await freshFolder();
  const service = await alone(folder, { LOG_LEVEL: "debug", AGENT_COMMAND: "cat" });
  const url = await service.url;
  const path = join(folder, "data/embedded-service-key");
  const key = (await readFile(path, "utf8")).trim();
  if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
  const greeting = service.stdout();
  expect(greeting).toContain("data/embedded-service-key");
  expect(greeting).toContain(`${url}/api/v1/docs`);

  const api = apiAt(url, key);
  const id = await api.create({ prompt: "Say hello" });
  const { session_link } = await api.until(id, "SUCCEEDED");
  expect(session_link?.startsWith(`${url}/api/v1/sessions/`)).toBe(true);
  expect((await api.send("GET", "/agent/runs", undefined, { authorization: "Bearer x" })).status).toBe(401);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([200, { service: "ok" }]);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain("agent_runs_service_unfinished_runs 0");
  expect((await fetch(url)).url).toBe(`${url}/api/v1/docs`);

  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(service.stdout() + service.stderr()).not.toContain(key);

  const again = await alone(folder);
  expect((await apiAt(await again.url, key).run(id)).state).toBe("SUCCEEDED");
});

test("the greeting's example, sent as curl sends it, makes a run", async () => {
  const folder = await freshFolder();
  const service = await alone(folder);
  await service.url;
  const example = /curl -H "Authorization: Bearer \$\(cat '(.+)'\)" -d '(.+)' (\S+)\n/.exec(service.stdout());
  const [, keyFile = "", body = "", address = ""] = example ?? [];
  const key = (await readFile(join(folder, keyFile), "utf8")).trim();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/x-www-form-urlencoded" };
  const answer = await fetch(address, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ run_id: expect.any(String), state: "QUEUED" });
});

test("started alone, the service takes its key, its command and its offer from its settings", async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, ".env"), "AGENT_COMMAND=cat\nAGENT_API_KEY=key-of-the-operator\n");
  await writeFile(
    join(folder, "agent-runs-bot.yaml"),
    "service: { models: [fast], factories: { Fixers: { base_prompt: Fix it. } }, session_links: read }\n",
  );
  const service = await alone(folder);
  const api = apiAt(await service.url, "key-of-the-operator");
  expect(service.stdout()).not.toContain("key-of-the-operator");
  const answer = await api.send("POST", "/factory/fixers/runs", { prompt: "The flaky test" });
  const { run_id } = await answer.json();
  expect((await api.until(run_id, "SUCCEEDED")).agent_config).toMatchObject({ model_id: "fast" });
  expect(await api.said(run_id)).toEqual([
    "user: The flaky test",
    expect.stringMatching(/^assistant: Fix it\.\s[\s\S]*The flaky test$/),
  ]);
});

test("on SIGTERM the service ends its runs and exits in time", async () => {
  const folder = await freshFolder();
  const service = await alone(folder, { AGENT_COMMAND: "echo $$; sleep 60", AGENT_API_KEY: "k" });
  const api = apiAt(await service.url, "k");
  const id = await api.create({ prompt: "x" });
  await api.until(id, "INPROGRESS");
  const pid = await eventually("the command's first words", async () => {
    const said = (await api.said(id)).at(-1) ?? "";
    return /^assistant: (\d+)$/.exec(said)?.[1] ?? null;
  });
  service.signal("SIGTERM");
  const inTime = new Promise((resolve) => setTimeout(resolve, 10_000, "too late").unref());
  expect(await Promise.race([service.ended, inTime])).toBe(0);
  expect(alive(Number(pid))).toBe(false);
  const again = await alone(folder, { AGENT_API_KEY: "k" });
  expect((await apiAt(await again.url, "k").run(id)).state).toBe("ERROR");
});

test("wrong settings are all reported at once, in sentences, and nothing is started", async () => {
  const folder = await freshFolder();
  await writeFile(
    join(folder, "agent-runs-bot.yaml"),
    "service: { factories: { a: { environment: gone-secret } }, environments: { app: } }\n",
  );
  const service = await alone(folder, { PORT: "high", AGENT_API_KEY: "two words" });
  expect(await service.ended).toBe(1);
  expect(service.stderr().trim().split("\n")).toEqual([
    "PORT must be a whole number, 0 to 65535.",
    "AGENT_API_KEY contains characters that are not valid in an API key: copy it again.",
    "agent-runs-bot.yaml: service.factories.a.environment is not under service.environments (app).",
  ]);
  expect(service.stdout()).toBe("");
});

test("a folder that another service uses is refused, with that service's process", async () => {
  const folder = await freshFolder();
  const first = await alone(folder);
  await first.url;
  const second = await alone(folder);
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(
    `is in use by process ${first.pid}. Stop that process, or set DATA_DIR to another folder.\n`,
  );
});

test.each([
  ["", 200],
  ["session_links: read", 403],
])(
  "a bot's own service offers what the config file says, and with %j its links let people steer with %s",
  async (links, status) => {
    const folder = await freshFolder();
    await writeFile(join(folder, "agent-runs-bot.yaml"), `service:\n  models: [fast]\n  ${links}\n`);
    const url = await (await startBot({}, { cwd: folder })).url;
    const key = (await readFile(join(folder, "data/embedded-service-key"), "utf8")).trim();
    const api = apiAt(url, key);
    expect(await (await api.send("GET", "/agent/models")).json()).toMatchObject({ default_model_id: "fast" });
    const id = await api.create({ prompt: "x" });
    const link = new URL((await api.run(id)).session_link ?? "");
    const followed = await fetch(`${link.origin}${link.pathname}/followups`, {
      method: "POST",
      headers: { "x-session-key": link.searchParams.get("key") ?? "" },
      body: JSON.stringify({ message: "More" }),
    });
    expect(followed.status).toBe(status);
  },
);
