import { z } from "zod";
import { knownStates } from "#agent-runs/schema.ts";
import { type Result, refused } from "./problem.ts";
import { type QueryParameter, singleValues, wholeNumber } from "./query.ts";
import { checked } from "./request-body.ts";

const time = z.iso
  .datetime({
    offset: true,
    error: "it must be an RFC 3339 time, such as 2026-01-31T08:00:00Z; in a URL, write + as %2B",
  })
  .transform((text) => Date.parse(text));

const query = z.object({
  limit: wholeNumber(1, 500, 20),
  cursor: z.string().nullable().default(null),
  sort_by: z.enum(["updated_at", "created_at", "title", "agent"]).default("updated_at"),
  sort_order: z.enum(["desc", "asc"]).default("desc"),
  state: z.array(z.enum(knownStates)),
  name: z.string().optional(),
  model_id: z.string().optional(),
  creator: z.string().optional(),
  source: z.string().optional(),
  environment_id: z.string().optional(),
  skill: z.string().optional(),
  created_after: time.optional(),
  created_before: time.optional(),
  updated_after: time.optional(),
  metadata: z.array(z.tuple([z.string(), z.string()])).max(5, "at most 5 pairs"),
  q: z.string().optional(),
});

const rfc3339 = z.iso.datetime({ offset: true });
const { sort_by, sort_order } = query.shape;

/** The parameters for the API's description. */
export const listParameters: Readonly<Record<string, QueryParameter>> = {
  limit: { schema: z.int().min(1).max(500).default(20), description: "Runs on a page." },
  cursor: { schema: z.string(), description: "`next_cursor` of the previous page, with the same sorting." },
  sort_by: {
    schema: sort_by,
    description: "The sort key; `agent` is the configuration's name.",
  },
  sort_order: { schema: sort_order, description: "Ascending or descending." },
  state: {
    schema: z.array(z.enum(knownStates)),
    description: "Any of these states. Repeat the parameter for more.",
  },
  name: { schema: z.string(), description: "The configuration's name." },
  config_name: { schema: z.string(), description: "The same as `name`." },
  model_id: { schema: z.string(), description: "The configuration's model." },
  environment_id: { schema: z.string(), description: "The configuration's environment." },
  skill: { schema: z.string(), description: "The skill that started the run." },
  skill_spec: { schema: z.string(), description: "The same as `skill`." },
  creator: { schema: z.string(), description: "The creator's uid." },
  source: { schema: z.string(), description: "The source that started the run; always `API` here." },
  created_after: { schema: rfc3339, description: "Created later than this." },
  created_before: { schema: rfc3339, description: "Created earlier than this." },
  updated_after: { schema: rfc3339, description: "Changed later than this." },
  metadata: {
    schema: z.record(z.string(), z.string()),
    description: "Runs with all these pairs, at most 5: `metadata[key]=value`.",
    style: "deepObject",
  },
  q: { schema: z.string(), description: "A part of the title, the prompt or the skill, in any case." },
};

/** The filters of a list. Times in milliseconds since the epoch; an empty `state` or `metadata` filters nothing. */
export type ListFilter = z.infer<typeof query>;

/** Other names of the same parameters. */
const aliases: Readonly<Record<string, string>> = { config_name: "name", skill_spec: "skill" };

/** Reads the query of `GET /agent/runs`. Ignores unknown parameters and empty values. */
export function listFilterOf(parameters: URLSearchParams): Result<ListFilter> {
  const metadata: [string, string][] = [];
  for (const [written, value] of parameters) {
    if (!/^metadata(\[|$)/.test(written)) continue;
    const key = /^metadata\[(.+)\]$/.exec(written)?.[1];
    // Ignoring it would return every run.
    if (key === undefined) return refused("invalid_request", "metadata: write it as metadata[key]=value");
    metadata.push([key, value]);
  }
  const state = parameters
    .getAll("state")
    .flatMap((value) => value.split(","))
    .filter((value) => value !== "");
  return checked(query, { ...singleValues(parameters, aliases), state, metadata });
}

/** A filter with the default order and page size. */
export const runsLike = (wanted: Partial<ListFilter>): ListFilter => ({
  ...query.parse({ state: [], metadata: [] }),
  ...wanted,
});
