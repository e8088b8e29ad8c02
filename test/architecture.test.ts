import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** One row of the import table: where a file stands, what it may import, and what it may not. */
const table = [
  {
    file: "src/core/planted.ts",
    permitted: ["./event.ts", "./decide/label.ts"],
    forbidden: ["../ports.ts", "../engine/accept.ts", "../slack/send.ts", "../main.ts", "node:fs", "zod"],
  },
  {
    file: "src/core/decide/planted.ts",
    permitted: ["./label.ts", "../event.ts"],
    forbidden: ["../../ports.ts", "../../store/open.ts", "node:crypto", "zod"],
  },
  {
    file: "src/ports.ts",
    permitted: ["./core/event.ts"],
    forbidden: ["./engine/accept.ts", "./slack/send.ts", "./agent-runs/schema.ts", "zod"],
  },
  {
    file: "src/engine/planted.ts",
    permitted: ["./accept.ts", "../core/event.ts", "../ports.ts"],
    forbidden: [
      "../slack/send.ts",
      "../github/send.ts",
      "../store/open.ts",
      "../agent-runs/client.ts",
      "../main.ts",
      "../core/../slack/send.ts",
      "./../store/open.ts",
      "@slack/bolt",
      "node:fs",
    ],
  },
  {
    file: "src/slack/planted.ts",
    permitted: ["./send.ts", "../core/view.ts", "../ports.ts", "@slack/bolt", "node:crypto"],
    forbidden: [
      "../engine/accept.ts",
      "../github/send.ts",
      "../store/open.ts",
      "../config.ts",
      "@octokit/rest",
    ],
  },
  {
    file: "src/github/planted.ts",
    permitted: ["./send.ts", "../core/view.ts", "../ports.ts", "@octokit/rest", "node:crypto"],
    forbidden: ["../engine/accept.ts", "../slack/send.ts", "../agent-runs/client.ts", "@slack/web-api", "ky"],
  },
  {
    file: "src/store/planted.ts",
    permitted: ["./open.ts", "../core/thread.ts", "../ports.ts", "lowdb", "node:fs/promises"],
    forbidden: ["../engine/accept.ts", "../github/send.ts", "../log.ts", "@slack/bolt", "hono"],
  },
  {
    file: "src/agent-runs/planted.ts",
    permitted: ["./schema.ts", "ky", "zod"],
    forbidden: ["../core/run.ts", "../ports.ts", "../service/service.ts", "node:timers/promises", "pino"],
  },
  {
    file: "src/service/planted.ts",
    permitted: ["./service.ts", "../agent-runs/schema.ts", "hono", "node:fs"],
    forbidden: ["../agent-runs/client.ts", "../core/run.ts", "../ports.ts", "../store/open.ts", "../main.ts"],
  },
  {
    file: "src/sandbox/planted.ts",
    permitted: ["./slack/stand-in.ts", "../agent-runs/schema.ts", "ws", "node:http"],
    forbidden: ["../agent-runs/client.ts", "../core/event.ts", "../slack/send.ts", "../service/service.ts"],
  },
  {
    file: "src/sandbox/slack/planted.ts",
    permitted: ["./stand-in.ts", "../page.ts", "../../agent-runs/schema.ts"],
    forbidden: ["../../slack/send.ts", "../../core/event.ts", "../../ports.ts", "@slack/web-api"],
  },
  {
    file: "src/sandbox/page/planted.js",
    permitted: ["./act.js"],
    forbidden: ["../sandbox.ts", "../../agent-runs/schema.ts", "node:fs", "zod"],
  },
  {
    file: "src/web/planted.ts",
    permitted: ["./server.ts", "../ports.ts", "prom-client", "node:http"],
    forbidden: ["../engine/accept.ts", "../slack/receive.ts", "../config.ts", "../core/thread.ts"],
  },
  {
    file: "src/config.ts",
    permitted: ["./config-file.ts", "./core/policy.ts", "zod"],
    forbidden: ["./slack/send.ts", "./engine/accept.ts", "./log.ts", "hono"],
  },
  {
    file: "src/config-service.ts",
    permitted: ["./config-keys.ts", "./service/catalog.ts", "node:path", "zod"],
    forbidden: ["./service/service.ts", "./core/policy.ts", "./log.ts", "yaml"],
  },
  {
    file: "src/process-life.ts",
    permitted: ["./ports.ts", "node:fs"],
    forbidden: ["./config.ts", "./service/service.ts", "pino"],
  },
  {
    file: "src/somewhere-new/planted.ts",
    permitted: [],
    forbidden: ["./beside.ts", "../core/event.ts", "zod"],
  },
  {
    file: "src/main.ts",
    permitted: ["./core/decide.ts", "./engine/engine.ts", "./slack/send.ts", "./config.ts", "hono"],
    forbidden: [],
  },
  {
    file: "src/service-main.ts",
    permitted: ["./config-standalone.ts", "./service/service.ts", "./web/server.ts", "pino"],
    forbidden: [],
  },
];

/** A planted file is numbered when its name is free to choose, so that each import stands in its own. */
const planted = table.flatMap(({ file, permitted, forbidden }) =>
  [...permitted.map((from) => ({ from, ok: true })), ...forbidden.map((from) => ({ from, ok: false }))].map(
    ({ from, ok }, index) => ({ row: file, from, ok, file: file.replace("planted", `planted-${index}`) }),
  ),
);
const ways = (from: string): string[] => [
  `import "${from}";`,
  `import type { Planted } from "${from}";`,
  `export * from "${from}";`,
  `export const later = () => import("${from}");`,
];

let folder = "";
/** `rule file:line` of everything that Biome objects to. */
let found = new Set<string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "architecture-"));
  await cp(join(import.meta.dirname, "../biome.json"), join(folder, "biome.json"));
  const lines = new Map<string, string[]>();
  for (const { file, from } of planted) lines.set(file, [...(lines.get(file) ?? []), ...ways(from)]);
  lines.set("src/engine/environment.ts", ["export const port = process.env.PORT;"]);
  lines.set("src/engine/floating.ts", ["async function work() {}", "work();"]);
  lines.set("src/engine/cycle.ts", [`export * from "./cycle-back.ts";`]);
  lines.set("src/engine/cycle-back.ts", [`export * from "./cycle.ts";`]);
  for (const [file, text] of lines) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `${text.join("\n")}\n`, { flag: "a" });
  }
  found = await lint();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the linter that `npm run lint` runs, on the planted files, under this repository's own rules. */
function lint(): Promise<Set<string>> {
  const biome = join(import.meta.dirname, "../node_modules/@biomejs/biome/bin/biome");
  const args = ["lint", "--vcs-enabled=false", "--max-diagnostics=none", "--reporter=github", "."];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [biome, ...args],
      { cwd: folder, maxBuffer: 1e8 },
      (_error, stdout, stderr) => {
        const told = [...stdout.matchAll(/^::\w+ title=([^,]+),file=([^,]+),line=(\d+)/gm)];
        if (told.length === 0) reject(new Error(`the linter said nothing of use: ${stdout}${stderr}`));
        resolve(
          new Set(told.map(([, rule, file, line]) => `${rule} ${file?.slice(file.indexOf("src/"))}:${line}`)),
        );
      },
    );
  });
}

/** In how many of the four ways of importing it the linter refuses `from` in `row`. */
function refusals(row: string, from: string): number {
  const plant = planted.find((one) => one.row === row && one.from === from);
  if (plant === undefined) throw new Error(`${from} was not planted in ${row}`);
  const before = planted.filter((one) => one.file === plant.file).indexOf(plant) * ways(from).length;
  return ways(from).filter((_, index) =>
    found.has(`lint/style/noRestrictedImports ${plant.file}:${before + index + 1}`),
  ).length;
}

test.each(table)("$file may import what its row of the table permits, and nothing else", (row) => {
  const refused = (from: readonly string[]) => from.map((one) => [one, refusals(row.file, one)]);
  expect(refused(row.permitted)).toEqual(row.permitted.map((one) => [one, 0]));
  expect(refused(row.forbidden)).toEqual(row.forbidden.map((one) => [one, ways(one).length]));
});

test("only main.ts may read the environment", () => {
  expect(found).toContain("lint/style/noProcessEnv src/engine/environment.ts:1");
});

test("a promise that nobody waits for is found", () => {
  expect(found).toContain("lint/nursery/noFloatingPromises src/engine/floating.ts:2");
});

test("files that import each other are found", () => {
  expect([...found].some((one) => one.startsWith("lint/suspicious/noImportCycles src/engine/cycle"))).toBe(
    true,
  );
});
