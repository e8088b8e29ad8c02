import { z } from "zod";
import { knownStates } from "#agent-runs/schema.ts";
import { type Result, refused } from "./problem.ts";
import { described, type QueryParameter, singleValues, wholeNumber } from "./query.ts";
import { checked } from "./request-body.ts";

const time = z.iso
  .datetime({
    offset: true,
    error: "it must be an RFC 3339 time, such as 2026-01-31T08:00:00Z; in a URL, write + as %2B",
  })
  .transform((text) => Date.parse(text));

const text = z.string().optional();

const query = z.object({
  limit: wholeNumber(1, 500, 20).describe("Runs on a page."),
  cursor: z
    .string()
    .nullable()
    .default(null)
    .describe("`next_cursor` of the previous page, with the same sorting."),
  sort_by: z
    .enum(["updated_at", "created_at", "title", "agent"])
    .default("updated_at")
    .describe("The sort key; `agent` is the skill, and runs without one come last."),
  sort_order: z.enum(["desc", "asc"]).default("desc").describe("Ascending or descending."),
  state: z.array(z.enum(knownStates)).describe("Any of these states. Repeat the parameter for more."),
  name: text.describe("The configuration's name."),
  model_id: text.describe("The configuration's model."),
  environment_id: text.describe("The configuration's environment; `empty-environment` for runs without one."),
  skill: text.describe("The skill that started the run."),
  creator: text.describe("The creator's uid."),
  executor: text.describe("The uid of the principal that executes the run, here always the creator."),
  source: text.describe("The source that started the run; always `API` here."),
  execution_location: z.enum(["LOCAL", "REMOTE"]).optional().describe("Always `LOCAL` here."),
  artifact_type: z
    .enum(["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"])
    .optional()
    .describe("Runs with an artifact of this type; here only `PULL_REQUEST` and `FILE` occur."),
  ancestor_run_id: text.describe("The children of this run, and theirs. The run must exist."),
  factory_uid: text.describe("The factory that created the run."),
  automation_id: text.describe("The same as `metadata[automation_id]`."),
  schedule_id: text.describe("The schedule that created the run; there are none here."),
  created_after: time.optional().describe("Created later than this."),
  created_before: time.optional().describe("Created earlier than this."),
  updated_after: time.optional().describe("Changed later than this."),
  metadata: z.array(z.tuple([z.string(), z.string()])).max(5, "at most 5 pairs"),
  q: text.describe("A part of the title, the prompt or the skill, in any case."),
});

/** Other names of the same parameters. */
const aliases: Readonly<Record<string, string>> = { config_name: "name", skill_spec: "skill" };

const { shape } = query;
const sentAs = (schema: z.ZodType, parameter: z.ZodType): QueryParameter => ({
  schema,
  description: parameter.description ?? "",
});
const rfc3339 = z.iso.datetime({ offset: true });

/** The parameters for the API's description, in the form on the wire. */
export const listParameters: Readonly<Record<string, QueryParameter>> = {
  ...described(query),
  cursor: sentAs(z.string(), shape.cursor),
  created_after: sentAs(rfc3339, shape.created_after),
  created_before: sentAs(rfc3339, shape.created_before),
  updated_after: sentAs(rfc3339, shape.updated_after),
  config_name: { schema: z.string(), description: "The same as `name`." },
  skill_spec: { schema: z.string(), description: "The same as `skill`." },
  metadata: {
    schema: z.record(z.string(), z.string()),
    description: "Runs with all these pairs, at most 5: `metadata[key]=value`.",
    style: "deepObject",
  },
};

/** The filters of a list. Times in milliseconds since the epoch; an empty `state` or `metadata` filters nothing. */
export type ListFilter = z.infer<typeof query>;

/** The forms in which clients write a list: repeated, with brackets, or with indexes. */
const listOfStates = /^state(\[\d*\])?$/;

/** Reads the query of `GET /agent/runs`. Ignores empty values; refuses parameters that it does not know. */
export function listFilterOf(parameters: URLSearchParams): Result<ListFilter> {
  const metadata: [string, string][] = [];
  const state: string[] = [];
  const others: [string, string][] = [];
  for (const [written, value] of parameters) {
    if (/^metadata(\[|$)/.test(written)) {
      const key = /^metadata\[(.+)\]$/.exec(written)?.[1];
      if (key === undefined) return refused("invalid_request", "metadata: write it as metadata[key]=value");
      metadata.push([key, value]);
    } else if (listOfStates.test(written)) state.push(...value.split(",").filter((each) => each !== ""));
    else others.push([written, value]);
  }
  const single = singleValues(others, Object.keys(shape), aliases);
  return single.ok ? checked(query, { ...single.value, state, metadata }) : single;
}

/** A filter with the default order and page size. */
export const runsLike = (wanted: Partial<ListFilter>): ListFilter => ({
  ...query.parse({ state: [], metadata: [] }),
  ...wanted,
});
