import { z } from "zod";
import { knownStates } from "#agent-runs/schema.ts";
import { type Result, refused } from "./problem.ts";
import { type QueryParameter, singleValues, wholeNumber } from "./query.ts";
import { faults } from "./request-body.ts";

const time = z.iso
  .datetime({
    offset: true,
    error: "it must be an RFC 3339 time, such as 2026-01-31T08:00:00Z; in an address, + is written %2B",
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

/** How each parameter is to be written. */
export const listParameters: Readonly<Record<string, QueryParameter>> = {
  limit: { schema: z.int().min(1).max(500).default(20), description: "How many runs a page has." },
  cursor: { schema: z.string(), description: "`next_cursor` of the page before, with the same sorting." },
  sort_by: {
    schema: sort_by,
    description: "What the runs are sorted by; `agent` is the configuration's name.",
  },
  sort_order: { schema: sort_order, description: "Ascending or descending." },
  state: { schema: z.array(z.enum(knownStates)), description: "One of these states; may be repeated." },
  name: { schema: z.string(), description: "The configuration's name." },
  config_name: { schema: z.string(), description: "The same as `name`." },
  model_id: { schema: z.string(), description: "The configuration's model." },
  environment_id: { schema: z.string(), description: "The configuration's environment." },
  skill: { schema: z.string(), description: "The skill that the run was started from." },
  skill_spec: { schema: z.string(), description: "The same as `skill`." },
  creator: { schema: z.string(), description: "The creator's uid." },
  source: { schema: z.string(), description: "What the run was started from: always `API` here." },
  created_after: { schema: rfc3339, description: "Created later than this." },
  created_before: { schema: rfc3339, description: "Created earlier than this." },
  updated_after: { schema: rfc3339, description: "Changed later than this." },
  metadata: {
    schema: z.record(z.string(), z.string()),
    description: "Has these pairs, at most 5: `metadata[key]=value`.",
    style: "deepObject",
  },
  q: { schema: z.string(), description: "Stands in the title, the prompt or the skill, whatever the case." },
};

/** Times in milliseconds since the epoch; empty `state` and `metadata` filter nothing. */
export type ListFilter = z.infer<typeof query>;

/** Other names of the same parameters. */
const aliases: Readonly<Record<string, string>> = { config_name: "name", skill_spec: "skill" };

/** Reads the query of `GET /agent/runs`. Unknown parameters are ignored, empty ones are absent. */
export function listFilterOf(parameters: URLSearchParams): Result<ListFilter> {
  const metadata: [string, string][] = [];
  for (const [written, value] of parameters) {
    if (!/^metadata(\[|$)/.test(written)) continue;
    const key = /^metadata\[(.+)\]$/.exec(written)?.[1];
    // Ignored, it would let everything through.
    if (key === undefined) return refused("invalid_request", "metadata: write it as metadata[key]=value");
    metadata.push([key, value]);
  }
  const state = parameters
    .getAll("state")
    .flatMap((value) => value.split(","))
    .filter((value) => value !== "");
  const parsed = query.safeParse({ ...singleValues(parameters, aliases), state, metadata });
  return parsed.success
    ? { ok: true, value: parsed.data }
    : refused("invalid_request", faults(parsed.error.issues));
}

/** The runs that match these, in the order and number that a list has if nothing is said. */
export const runsLike = (wanted: Partial<ListFilter>): ListFilter => ({
  ...query.parse({ state: [], metadata: [] }),
  ...wanted,
});
