import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { knownStates } from "#agent-runs/schema.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import { conditionsOf } from "#service/store/list-sql.ts";
import { openRuns } from "#service/store/run-database.ts";
import type { RunStore } from "#service/store/run-store.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { documentOf, everything, idsOn, openStore } from "#test/support/service/stored-runs.ts";

/** Few values, so that filters match, and values that are difficult for databases, JSON and case folding. */
const name = fc.constantFrom("", "a", "b", "B", "é", "\ud83d\ude00", "\uffee", "%", "'", "n\0l");
const optional = fc.option(fc.constantFrom("x", "y"), { nil: undefined });
const time = fc.integer({ min: 0, max: 12 });
const word = fc.constantFrom(
  "Fix",
  "FIX it",
  "ΟΔΟΣ",
  "straße",
  'say "hi"',
  "back\\slash",
  "new\nline",
  "100%",
  "n",
);
const pairs = fc.dictionary(
  fc.constantFrom("k", "l", "__proto__", "automation_id"),
  fc.constantFrom("1", "2"),
  {
    maxKeys: 2,
  },
);

const file = { kind: "file", uid: "u", name: "a", path: "/a", mime: "text/plain", bytes: 1, at: 1 } as const;
const pull = { kind: "pull_request", url: "https://x/a/b/pull/1", branch: "", at: 1 } as const;

const made = fc.record({
  name: fc.option(name, { nil: undefined }),
  model: optional,
  environment: optional,
  skill: optional,
  title: fc.oneof(name, word),
  prompt: fc.oneof(name, word),
  metadata: pairs,
  state: fc.constantFrom(...knownStates),
  createdAt: time,
  updatedAt: time,
  factoryUid: fc.option(fc.constantFrom("f", "g")),
  artifacts: fc.constantFrom([], [file], [pull], [pull, file, pull]),
  /** How many runs earlier its parent was created. */
  parent: fc.option(fc.integer({ min: 1, max: 4 })),
});
type Made = typeof made extends fc.Arbitrary<infer T> ? T : never;
const documents = fc.array(made, { maxLength: 40 });
const required = {
  limit: fc.integer({ min: 1, max: 7 }),
  sort_by: fc.constantFrom("updated_at", "created_at", "title", "agent"),
  sort_order: fc.constantFrom("desc", "asc"),
  state: fc.uniqueArray(fc.constantFrom(...knownStates), { maxLength: 5 }),
  metadata: fc.array(fc.tuple(fc.constantFrom("k", "l", "constructor"), fc.constantFrom("1", "2")), {
    maxLength: 2,
  }),
} as const;
const requiredKeys = ["limit", "sort_by", "sort_order", "state", "metadata"] as const;
const filtersByContent = fc.record(
  {
    ...required,
    name: name.filter((each) => each !== ""),
    model_id: fc.constantFrom("x", "y"),
    environment_id: fc.constantFrom("x", "y", "empty-environment"),
    skill: fc.constantFrom("x", "z"),
    creator: fc.constantFrom("api-key", "api-key", "somebody"),
    source: fc.constantFrom("API", "API", "SLACK"),
    created_after: time,
    created_before: time,
    updated_after: time,
    q: fc.constantFrom("fix", "FIX IT", "οδος", "STRASSE", "straße", '"', "\\", "\n", "n", "%", "\0"),
  },
  { requiredKeys: [...requiredKeys] },
);
const filtersByOrigin = fc.record(
  {
    ...required,
    state: fc.constant<ListFilter["state"]>([]),
    metadata: fc.constant<ListFilter["metadata"]>([]),
    factory_uid: fc.constantFrom("f", "g"),
    automation_id: fc.constantFrom("1", "2"),
    artifact_type: fc.constantFrom("FILE", "PULL_REQUEST", "PLAN"),
    ancestor_run_id: fc.constantFrom("run-1", "run-2", "run-3"),
    execution_location: fc.constantFrom("LOCAL", "LOCAL", "LOCAL", "REMOTE"),
  },
  { requiredKeys: [...requiredKeys] },
);
const filters = fc.oneof(filtersByContent, filtersByOrigin);

const documentWith = (order: number, made: Made): RunDocument => {
  const { name, model, environment, skill, title, prompt, metadata, parent, artifacts, ...set } = made;
  const parentRunId = parent === null || parent >= order ? null : `run-${order - parent}`;
  const config = { name, model_id: model, environment_id: environment };
  const request = { prompt, metadata, ...(skill === undefined ? {} : { skill }) };
  return documentOf(order, request, {
    ...set,
    artifacts: [...artifacts],
    parentRunId,
    title,
    config,
  });
};

function ancestorsOf({ parentRunId }: Run, all: readonly Run[]): string[] {
  const parent = all.find(({ id }) => id === parentRunId);
  return parent === undefined ? [] : [parent.id, ...ancestorsOf(parent, all)];
}

const matches = (run: Run, filter: ListFilter, all: readonly Run[]): boolean => {
  const same = (wanted: string | undefined, found: string | null | undefined): boolean =>
    wanted === undefined || wanted === found;
  return (
    (filter.state.length === 0 || filter.state.includes(run.state)) &&
    same(filter.name, run.config.name) &&
    same(filter.model_id, run.config.model_id) &&
    (filter.environment_id === "empty-environment"
      ? run.config.environment_id === undefined
      : same(filter.environment_id, run.config.environment_id)) &&
    same(filter.skill, run.skill) &&
    same(filter.factory_uid, run.factoryUid) &&
    same(filter.automation_id, run.metadata.automation_id) &&
    (filter.artifact_type === undefined ||
      run.artifacts.some(({ kind }) => kind.toUpperCase() === filter.artifact_type)) &&
    (filter.ancestor_run_id === undefined || ancestorsOf(run, all).includes(filter.ancestor_run_id)) &&
    filter.execution_location !== "REMOTE" &&
    same(filter.creator, "api-key") &&
    same(filter.source, "API") &&
    run.createdAt > (filter.created_after ?? -1) &&
    run.createdAt < (filter.created_before ?? Infinity) &&
    run.updatedAt > (filter.updated_after ?? -1) &&
    filter.metadata.every(
      ([key, value]) => Object.hasOwn(run.metadata, key) && run.metadata[key] === value,
    ) &&
    [run.title, run.prompt, run.skill ?? ""].some((text) =>
      text.toLowerCase().includes((filter.q ?? "").toLowerCase()),
    )
  );
};

/** The ids of the matching runs in order, found without a database. */
function reference(all: readonly Run[], filter: ListFilter): string[] {
  const keys = {
    updated_at: (run: Run) => String(run.updatedAt).padStart(5),
    created_at: (run: Run) => String(run.createdAt).padStart(5),
    title: (run: Run) => run.title,
    // Runs without a skill come last in either order.
    agent: ({ skill }: Run) =>
      filter.sort_order === "asc" ? (skill === null ? "1" : `0${skill}`) : skill === null ? "0" : `1${skill}`,
  };
  const key = (run: Run): Buffer => Buffer.from(keys[filter.sort_by](run));
  const direction = filter.sort_order === "asc" ? 1 : -1;
  return all
    .filter((run) => matches(run, filter, all))
    .sort((a, b) => direction * (Buffer.compare(key(a), key(b)) || a.order - b.order))
    .map(({ id }) => id);
}

/** Bounds so small that a few runs are read as many are. */
const smallBounds = { rare: 3, batch: 4, searchBatch: 2 };

test.each([
  ["the default", undefined],
  ["small", smallBounds],
])(
  "with %s bounds, each filter and sorting pages through exactly the matching runs in order",
  async (_, bounds) => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.array(filters, { minLength: 20, maxLength: 20 }),
        async (made, asked) => {
          const runs = await openStore(bounds === undefined ? {} : { bounds });
          const all = made.map((each, at) => documentWith(at + 1, each));
          await Promise.all(all.map((each) => runs.add(each)));
          for (const one of asked) {
            const filter = { ...everything, ...one };
            expect(await idsOn(runs, filter)).toEqual(
              reference(
                all.map(({ run }) => run),
                filter,
              ),
            );
          }
          await runs.close();
        },
      ),
      { numRuns: 25, seed: 11, endOnFailure: true },
    );
  },
);

test.each(["created_at", "title", "agent"] as const)(
  "pages by %s have each run once while runs are added and changed",
  async (sort_by) => {
    await fc.assert(
      fc.asyncProperty(documents, fc.infiniteStream(fc.nat()), fc.boolean(), async (made, random, many) => {
        const runs = await openStore(many ? { bounds: smallBounds } : {});
        await Promise.all(made.map((each, at) => runs.add(documentWith(at + 1, each))));
        let order = made.length;
        const ids = await idsOn(runs, { ...everything, limit: 5, sort_by }, async () => {
          order += 1;
          const [other = 0, state = 0] = [...random.take(2)];
          await Promise.all([
            runs.add(
              documentOf(
                order,
                { prompt: `later ${other}` },
                { title: String(other), createdAt: other % 13 },
              ),
            ),
            runs.change(`run-${(other % order) + 1}`, (before) => ({
              document: {
                ...before,
                run: { ...before.run, state: knownStates[state % knownStates.length] ?? "QUEUED" },
              },
              result: null,
            })),
          ]);
        });
        expect(new Set(ids).size).toBe(ids.length);
        for (let place = 1; place <= made.length; place += 1) expect(ids).toContain(`run-${place}`);
        await runs.close();
      }),
      { numRuns: 15, seed: 12, endOnFailure: true },
    );
  },
);

test("each filter finds its few runs by an index, whatever the number of runs", async () => {
  const folder = await freshFolder();
  await (await openStore({ folder })).close();
  const database = await openRuns(join(folder, "runs.db"));
  const conditions = conditionsOf({
    ...everything,
    state: ["QUEUED"],
    metadata: [["agent-runs-bot.dispatch", "d"]],
    name: "n",
    model_id: "m",
    environment_id: "e",
    skill: "s",
    factory_uid: "f",
    automation_id: "a",
    artifact_type: "FILE",
    ancestor_run_id: "r",
    created_after: 1,
    created_before: 2,
    updated_after: 1,
  });
  const plans = (conditions ?? []).map(({ select, values }) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${select}`)
      .all(...values)
      .map(({ detail }) => String(detail)),
  );
  database.close();
  expect(plans).toHaveLength(13);
  expect(plans.flat().filter((step) => /^SCAN (run|made|metadata)\b/.test(step))).toEqual([]);
});

test("by latest change and oldest first, runs that change while pages are read come again, and none is missed", async () => {
  let at = 0;
  const runs = await openStore({ now: () => 2_000 + at });
  for (let order = 1; order <= 9; order += 1) {
    await runs.add(documentOf(order, { prompt: "x" }, { updatedAt: order }));
  }
  const filter = { ...everything, limit: 3, sort_by: "updated_at", sort_order: "asc" } as const;
  const ids = await idsOn(runs, filter, async () => {
    at += 1;
    if (at === 1) for (const id of ["run-1", "run-8"]) await touch(runs, id);
  });
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 9, 1, 8].map((order) => `run-${order}`));
});

const touch = (runs: RunStore, id: string) =>
  runs.change(id, (before) => ({ document: { ...before, turn: before.turn + 1 }, result: null }));
