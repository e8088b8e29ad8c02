/** The requests about runs (create, list, follow-up, cancel) and those answers that are not runs. */
import { z } from "zod";
import { newAgentConfig } from "./config.ts";
import { mapOf, maybe } from "./lenient.ts";
import type { Plain } from "./plain.ts";

/** How the agent goes about its task; `normal` if absent. */
export const runMode = z.enum(["normal", "plan", "orchestrate"]);

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

const metadataKey = /^[a-zA-Z0-9._-]{1,64}$/;
const metadataValue = z
  .string()
  .refine((value) => byteLength(value) <= 256, "a value has at most 256 bytes")
  .refine((value) => !value.includes("\0"), "a value has no NUL");

/** At most 20 pairs; keys 1-64 bytes of `[a-zA-Z0-9._-]`, values up to 256 bytes of UTF-8 without NUL. */
export const metadata = mapOf(metadataValue).superRefine((pairs, context) => {
  const keys = Object.keys(pairs);
  if (keys.length > 20) context.addIssue({ code: "custom", message: "at most 20 pairs" });
  for (const key of keys.filter((each) => !metadataKey.test(each))) {
    const message = "a key has 1 to 64 characters of a-z A-Z 0-9 . _ -";
    context.addIssue({ code: "custom", message, path: [key] });
  }
});

/** `data` is base64. */
export const attachment = z.looseObject({ file_name: z.string(), mime_type: z.string(), data: z.string() });
export type Attachment = z.infer<typeof attachment>;

/** `RunAgentRequest`: a prompt is required unless a skill is given. */
export const createRequest = z.looseObject({
  prompt: z.string().optional(),
  title: z.string().optional(),
  config: newAgentConfig.optional(),
  /** `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`; wins over `config.skill_spec`. */
  skill: z.string().optional(),
  /** Continues where an earlier run left off. */
  conversation_id: z.string().optional(),
  attachments: z.array(attachment).max(5).optional(),
  metadata: metadata.optional(),
  mode: runMode.optional(),
  interactive: z.boolean().optional(),
  team: z.boolean().optional(),
  agent_identity_uid: z.string().optional(),
  on_behalf_of: z.string().optional(),
  parent_run_id: z.string().optional(),
});
export type CreateRequest = z.infer<typeof createRequest>;
/** A run to create; it needs a prompt or a skill. Fields that are not named here pass through. */
export type NewRun = Plain<CreateRequest>;

/** `RunAgentResponse`; `task_id` is the same value under its old name. */
export const createResponse = z.looseObject({
  run_id: z.string().min(1),
  task_id: maybe(z.string()),
  state: z.string(),
  at_capacity: maybe(z.boolean()),
});
export type CreateResponse = z.infer<typeof createResponse>;

/**
 * Query of `GET /agent/runs`; times are RFC 3339. Filters are ANDed, states ORed. A service may ignore
 * filters that it does not know.
 */
export const listQuery = z.object({
  /** The service's default is 20. */
  limit: z.number().int().min(1).max(500).optional(),
  /** `next_cursor` of the previous page. */
  cursor: z.string().optional(),
  /** `updated_at` if absent. */
  sort_by: z.enum(["updated_at", "created_at", "title", "agent"]).optional(),
  /** `desc` if absent. */
  sort_order: z.enum(["asc", "desc"]).optional(),
  state: z.array(z.string()).readonly().optional(),
  /** The configuration's name. */
  name: z.string().optional(),
  model_id: z.string().optional(),
  /** A user's or service account's uid. */
  creator: z.string().optional(),
  executor: z.string().optional(),
  source: z.string().optional(),
  /** `LOCAL` or `REMOTE`. */
  execution_location: z.string().optional(),
  created_after: z.string().optional(),
  created_before: z.string().optional(),
  updated_after: z.string().optional(),
  environment_id: z.string().optional(),
  skill: z.string().optional(),
  skill_spec: z.string().optional(),
  schedule_id: z.string().optional(),
  ancestor_run_id: z.string().optional(),
  automation_id: z.string().optional(),
  factory_uid: z.string().optional(),
  /** `PULL_REQUEST`, `PLAN`, `SCREENSHOT`, `FILE` or `EXTERNAL_REFERENCE`. */
  artifact_type: z.string().optional(),
  /** Exact pairs, ANDed; written `metadata[key]=value`. A service may answer `feature_not_available`. */
  metadata: mapOf(z.string())
    .refine((pairs) => Object.keys(pairs).length <= 5, "at most 5 pairs")
    .optional(),
  /** A text to search for in title, prompt and skill. */
  q: z.string().optional(),
});
export type ListQuery = Readonly<z.infer<typeof listQuery>>;

/** `RunFollowupRequest`. */
export const followUpRequest = z.looseObject({ message: z.string().min(1), mode: runMode.optional() });
export type FollowUpRequest = z.infer<typeof followUpRequest>;
/** A follow-up to send. */
export type FollowUp = Plain<FollowUpRequest>;
