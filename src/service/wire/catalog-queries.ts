import { z } from "zod";
import { wholeNumber } from "./query.ts";

export const environmentsQuery = z.object({
  sort_by: z
    .enum(["name", "last_updated"])
    .default("last_updated")
    .describe("`last_updated` is the order in which they are declared."),
});

export const skillsQuery = z.object({
  repo: z
    .string()
    .regex(/^[^/\s]+\/[^/\s]+$/, "write the repository as owner/repo")
    .optional()
    .describe("Only those of this repository: `owner/repo`."),
  refresh: z.stringbool().default(false).describe("Look at the repositories anew."),
  sort_by: z.enum(["name", "last_run"]).default("name").describe("`last_run`: the last one that ran first."),
  include_malformed_skills: z
    .stringbool()
    .default(false)
    .describe("Also those whose file can't be read; their variants have an `error`."),
});
export type SkillsQuery = z.infer<typeof skillsQuery>;

export const factoriesQuery = z.object({
  search: z.string().default("").describe("A part of the name or of an alias, whatever the case."),
  limit: wholeNumber(1, 100, 50).describe("How many factories a page has."),
  cursor: z.string().optional().describe("`next_cursor` of the page before, with the same search."),
});
