import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** One row of the import table: the path of a file, the imports it may have, and some that it may not. */
const table = [
  {
    file: "src/core/planted.ts",
    permitted: ["./event.ts", "#core/decide/label.ts"],
    forbidden: ["#ports.ts", "#engine/accept.ts", "#slack/send/send.ts", "../main.ts", "node:fs", "zod"],
  },
  {
    file: "src/core/decide/planted.ts",
    permitted: ["./label.ts", "#core/event.ts"],
    forbidden: ["../event.ts", "#ports.ts", "#store/open.ts", "node:crypto", "zod"],
  },
  {
    file: "src/ports.ts",
    permitted: ["#core/event.ts", "#base/log.ts", "node:http"],
    forbidden: ["#engine/accept.ts", "#slack/send/send.ts", "#agent-runs/schema.ts", "zod", "node:fs"],
  },
  {
    file: "src/engine/perform/planted.ts",
    permitted: ["./lanes.ts", "#engine/base/timers.ts", "#core/event.ts", "#ports.ts"],
    forbidden: [
      "#slack/send/send.ts",
      "#github/send/send.ts",
      "#store/open.ts",
      "#agent-runs/client.ts",
      "../engine.ts",
      "#core/../slack/send/send.ts",
      "./../../store/open.ts",
      "@slack/bolt",
      "node:fs",
    ],
  },
  {
    file: "src/slack/planted.ts",
    permitted: [
      "./place.ts",
      "#slack/send/send.ts",
      "#core/view.ts",
      "#ports.ts",
      "#config/variables.ts",
      "@slack/bolt",
      "node:crypto",
    ],
    forbidden: [
      "#config/read-config.ts",
      "#engine/accept.ts",
      "#github/send/send.ts",
      "#store/open.ts",
      "#process/log.ts",
      "@octokit/rest",
    ],
  },
  {
    file: "src/github/send/planted.ts",
    permitted: [
      "./send.ts",
      "#github/place.ts",
      "#core/view.ts",
      "#ports.ts",
      "#config/variables.ts",
      "@octokit/rest",
      "node:crypto",
    ],
    forbidden: ["#engine/accept.ts", "#slack/send/send.ts", "#agent-runs/client.ts", "@slack/web-api", "ky"],
  },
  {
    file: "src/store/planted.ts",
    permitted: [
      "./open.ts",
      "#core/thread.ts",
      "#ports.ts",
      "#disk/durable-file.ts",
      "lowdb",
      "node:fs/promises",
    ],
    forbidden: ["#engine/accept.ts", "#github/send/send.ts", "#process/log.ts", "@slack/bolt", "hono"],
  },
  {
    file: "src/agent-runs/planted.ts",
    permitted: ["./schema.ts", "./http/retry.ts", "ky", "zod"],
    forbidden: [
      "#core/run.ts",
      "#ports.ts",
      "#base/keyed-queue.ts",
      "../ports.ts",
      "node:timers/promises",
      "pino",
    ],
  },
  {
    file: "src/agent-runs/http/planted.ts",
    permitted: ["./retry.ts", "../errors.ts", "../schema/run.ts", "ky", "zod"],
    forbidden: ["#core/run.ts", "../../core/run.ts", "../../ports.ts", "node:timers/promises"],
  },
  {
    file: "src/service/turns/planted.ts",
    permitted: [
      "./executor.ts",
      "#service/run/run-id.ts",
      "#agent-runs/schema.ts",
      "#disk/durable-file.ts",
      "hono",
    ],
    forbidden: ["#agent-runs/client.ts", "#core/run.ts", "#ports.ts", "#store/open.ts", "../service.ts"],
  },
  {
    file: "src/service/page/planted.js",
    permitted: ["./text.js"],
    forbidden: ["#service/service.ts", "node:fs", "zod"],
  },
  {
    file: "src/sandbox/slack/planted.ts",
    permitted: ["./stand-in.ts", "#sandbox/saved/secrets.ts", "#agent-runs/schema.ts", "ws", "node:http"],
    forbidden: [
      "#slack/send/send.ts",
      "#core/event.ts",
      "#ports.ts",
      "#service/service.ts",
      "@slack/web-api",
    ],
  },
  {
    file: "src/sandbox/page/planted.js",
    permitted: ["./act.js"],
    forbidden: ["../sandbox.ts", "#agent-runs/schema.ts", "node:fs", "zod"],
  },
  {
    file: "src/web/planted.ts",
    permitted: ["./server.ts", "#ports.ts", "prom-client", "node:http"],
    forbidden: [
      "#engine/accept.ts",
      "#slack/receive/receive.ts",
      "#config/read-config.ts",
      "#core/thread.ts",
    ],
  },
  {
    file: "src/config/planted.ts",
    permitted: ["./file.ts", "#core/policy.ts", "#ports.ts", "zod"],
    forbidden: ["#slack/send/send.ts", "#engine/accept.ts", "#process/log.ts", "hono"],
  },
  {
    file: "src/process/planted.ts",
    permitted: ["./log.ts", "#ports.ts", "#config/read-config.ts", "node:fs", "pino"],
    forbidden: ["#service/service.ts", "#engine/engine.ts", "#core/thread.ts", "hono"],
  },
  {
    file: "src/process/bot.ts",
    permitted: ["./run.ts", "#engine/engine.ts", "#service/service.ts", "#store/open-store.ts"],
    forbidden: ["#slack/platform.ts", "#github/platform.ts", "../slack/platform.ts"],
  },
  {
    file: "src/base/planted.ts",
    permitted: ["./keyed-queue.ts"],
    forbidden: ["#core/event.ts", "#ports.ts", "#disk/durable-file.ts", "node:fs", "zod"],
  },
  {
    file: "src/disk/planted.ts",
    permitted: ["./durable-file.ts", "#base/keyed-queue.ts", "node:fs", "node:sqlite", "lowdb"],
    forbidden: ["#core/thread.ts", "#ports.ts", "#store/open.ts", "#service/service.ts", "zod"],
  },
  {
    file: "src/somewhere-new/planted.ts",
    permitted: [],
    forbidden: ["./beside.ts", "#core/event.ts", "zod"],
  },
  {
    file: "src/main.ts",
    permitted: ["#core/decide/decide.ts", "#engine/engine.ts", "#slack/send/send.ts", "hono"],
    forbidden: [],
  },
  {
    file: "src/service-main.ts",
    permitted: ["#config/standalone.ts", "#service/service.ts", "#web/server.ts", "pino"],
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
  for (const file of ["biome.json", "package.json"]) {
    await cp(join(import.meta.dirname, "..", file), join(folder, file));
  }
  const lines = new Map<string, string[]>();
  for (const { file, from } of planted) lines.set(file, [...(lines.get(file) ?? []), ...ways(from)]);
  lines.set("src/engine/environment.ts", ["export const port = process.env.PORT;"]);
  lines.set("src/engine/floating.ts", ["async function work() {}", "work();"]);
  lines.set("src/engine/circle.ts", [`export * from "#engine/base/circle-back.ts";`]);
  lines.set("src/engine/base/circle-back.ts", [`export * from "#engine/circle.ts";`]);
  lines.set("src/core/circle.ts", [
    `import type { Back } from "./circle-back.ts";`,
    "export interface Circle { readonly back: Back; }",
  ]);
  lines.set("src/core/circle-back.ts", [
    `import type { Circle } from "./circle.ts";`,
    "export interface Back { readonly circle: Circle; }",
  ]);
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

test.each([
  ["files that import each other", ["src/engine/circle.ts", "src/engine/base/circle-back.ts"]],
  ["types that import each other", ["src/core/circle.ts", "src/core/circle-back.ts"]],
])("%s are found", (_, files) => {
  expect(files.filter((file) => !found.has(`lint/suspicious/noImportCycles ${file}:1`))).toEqual([]);
});
