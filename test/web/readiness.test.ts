import { createServer } from "node:http";
import { Registry } from "prom-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "#test/support/listen.ts";
import { createReadiness } from "#web/readiness.ts";
import { statusRoutes } from "#web/status.ts";

const options = { timeoutMs: 1000, cacheMs: 2000, now: () => 0 };

test("a check without an answer is reported after its time, and the others are not delayed", async () => {
  const checks = { store: () => Promise.resolve(), api: () => new Promise<void>(() => {}) };
  const readiness = createReadiness(checks, { ...options, timeoutMs: 50 });
  expect(await readiness()).toEqual({ store: "ok", api: "no answer within 0.05 s" });
});

test("a check that throws at once, or throws something other than an Error, is reported too", async () => {
  const checks = {
    api: () => {
      throw new Error("no route");
    },
    slack: () => Promise.reject("secret"),
  };
  expect(await createReadiness(checks, options)()).toEqual({
    api: "no route",
    slack: "unknown error",
  });
});

test("all checks run at once", async () => {
  let begun = 0;
  const all = Promise.withResolvers<void>();
  const check = async () => {
    begun += 1;
    if (begun === 3) all.resolve();
    await all.promise;
  };
  const readiness = createReadiness({ store: check, api: check, slack: check }, options);
  expect(await readiness()).toEqual({ store: "ok", api: "ok", slack: "ok" });
});

test("calls in quick succession share a result, and later ones get a new one", async () => {
  let asked = 0;
  let now = 0;
  const check = async () => {
    asked += 1;
  };
  const readiness = createReadiness({ store: check }, { ...options, now: () => now });
  await Promise.all([readiness(), readiness()]);
  now = 1999;
  await readiness();
  expect(asked).toBe(1);
  now = 2000;
  await readiness();
  expect(asked).toBe(2);
});

test("a new result is got although this machine's clock was set back", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const routes = statusRoutes({ store: async () => (asked += 1) }, new Registry());
  const listener = routes["GET /readyz"];
  const { url, close } = await listen(createServer((...exchange) => listener?.(...exchange, 0)));
  onTestFinished(close);
  const probe = async () => (await fetch(url)).arrayBuffer();
  await probe();
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(3_000);
  await probe();
  expect(asked).toBe(2);
});
