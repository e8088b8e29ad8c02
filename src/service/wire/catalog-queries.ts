import { z } from "zod";
import { wholeNumber } from "./query.ts";

export const environmentsQuery = z.object({
  sort_by: z
    .enum(["name", "last_updated"])
    .default("last_updated")
    .describe("`last_updated`: the latest change of a declaration first."),
});

export const skillsQuery = z.object({
  repo: z
    .string()
    .regex(/^[^/\s]+\/[^/\s]+$/, "write the repository as owner/repo")
    .optional()
    .describe("Only the skills of this repository, `owner/repo`."),
  refresh: z.stringbool().default(false).describe("Fetch the repositories again."),
  sort_by: z.enum(["name", "last_run"]).default("name").describe("`last_run`: most recently run first."),
  include_malformed_skills: z
    .stringbool()
    .default(false)
    .describe("Includes skills whose file can't be read; their variants have an `error`."),
});
export type SkillsQuery = z.infer<typeof skillsQuery>;

export const factoriesQuery = z.object({
  search: z.string().default("").describe("A part of the name or of an alias, in any case."),
  limit: wholeNumber(1, 100, 50).describe("Factories on a page."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page, with the same search."),
});
