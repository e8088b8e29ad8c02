/**
 * The Agent Runs API's wire format, the one contract of the client and of the embedded service.
 * Answers are read leniently (unknown fields are kept, unknown enum values are plain strings, an
 * optional field may be null); requests are sent strictly.
 */
import { z } from "zod";

/** Ended: no further change comes unless a follow-up continues the run. */
export const endedStates = ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const;
export const knownStates = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED", ...endedStates] as const;
export type KnownState = (typeof knownStates)[number];

/** RFC 3339, as the service writes it. */
const timestamp = z.string().min(1);

/** A field that may be missing or null; one of a shape unknown to us counts as missing. */
const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);

/** Always a text; a missing one is empty. */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

/** A list; null, as some servers write an empty one, and a missing one are empty. */
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

/** A list of which only the items that we understand are kept. */
const understood = <T extends z.ZodType>(item: T) =>
  list(z.unknown()).transform((items) =>
    items.flatMap((each) => {
      const read = item.safeParse(each);
      return read.success ? [read.data] : [];
    }),
  );

const isTextPair = (pair: [string, unknown]): pair is [string, string] => typeof pair[1] === "string";

/** One MCP server: exactly one of a command, a URL or a shared server's id; the rest passes through. */
export const mcpServerConfig = z.looseObject({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});
export type McpServerConfig = z.infer<typeof mcpServerConfig>;

/** `AmbientAgentConfig` of the specification. */
export const agentConfig = z.looseObject({
  name: z.string().nullish(),
  model_id: z.string().nullish(),
  base_prompt: z.string().nullish(),
  environment_id: z.string().nullish(),
  skill_spec: z.string().nullish(),
  mcp_servers: z.record(z.string(), mcpServerConfig).nullish(),
});
export type AgentConfig = z.infer<typeof agentConfig>;

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** At most 20 pairs; keys 1-64 bytes of `[a-zA-Z0-9._-]`, values up to 256 bytes of UTF-8 without NUL. */
export const metadata = z
  .record(
    z.string().regex(/^[a-zA-Z0-9._-]{1,64}$/, "a key has 1 to 64 characters of a-z A-Z 0-9 . _ -"),
    z
      .string()
      .refine((value) => byteLength(value) <= 256, "a value has at most 256 bytes")
      .refine((value) => !value.includes("\0"), "a value has no NUL"),
  )
  .refine((pairs) => Object.keys(pairs).length <= 20, "at most 20 pairs");

/** `RunAgentRequest`: a prompt is required unless a skill is given. */
export const createRequest = z.looseObject({
  prompt: z.string().optional(),
  title: z.string().optional(),
  config: agentConfig.optional(),
  skill: z.string().optional(),
  conversation_id: z.string().optional(),
  attachments: z
    .array(z.looseObject({ file_name: z.string(), mime_type: z.string(), data: z.string() }))
    .max(5)
    .optional(),
  metadata: metadata.optional(),
  mode: z.string().optional(),
  interactive: z.boolean().optional(),
  team: z.boolean().optional(),
  agent_identity_uid: z.string().optional(),
  on_behalf_of: z.string().optional(),
  parent_run_id: z.string().optional(),
});
export type CreateRequest = z.infer<typeof createRequest>;

/** `RunAgentResponse`; `task_id` is the same value under its old name. */
export const createResponse = z.looseObject({
  run_id: z.string().min(1),
  task_id: maybe(z.string()),
  state: z.string(),
  at_capacity: maybe(z.boolean()),
});
export type CreateResponse = z.infer<typeof createResponse>;

/** `RunStatusMessage`. */
export const statusMessage = z.looseObject({
  message: z.string(),
  error_code: maybe(z.string()),
  retryable: maybe(z.boolean()),
});

/** `data` by type: PULL_REQUEST url, branch; PLAN document_uid, title, url; FILE filename, …; see the docs. */
export const artifact = z.looseObject({
  artifact_type: z.string(),
  created_at: maybe(z.string()),
  data: maybe(z.looseObject({})),
});
export type Artifact = z.infer<typeof artifact>;

/** The configuration that a run was resolved to; read leniently, unlike the one that is sent. */
const resolvedConfig = z.looseObject({
  name: maybe(z.string()),
  model_id: maybe(z.string()),
  base_prompt: maybe(z.string()),
  environment_id: maybe(z.string()),
  skill_spec: maybe(z.string()),
  mcp_servers: maybe(z.record(z.string(), z.looseObject({}))),
});

const principal = z.looseObject({
  type: maybe(z.string()),
  uid: maybe(z.string()),
  display_name: maybe(z.string()),
  photo_url: maybe(z.string()),
});

/** `RunItem`. */
export const runItem = z.looseObject({
  run_id: z.string().min(1),
  task_id: maybe(z.string()),
  title: text,
  prompt: text,
  state: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  started_at: maybe(z.string()),
  session_id: maybe(z.string()),
  session_link: maybe(z.string()),
  conversation_id: maybe(z.string()),
  agent_config: maybe(resolvedConfig),
  creator: maybe(principal),
  executor: maybe(principal),
  source: maybe(z.string()),
  trigger_url: maybe(z.string()),
  metadata: maybe(
    z
      .record(z.string(), z.unknown())
      .transform((pairs) => Object.fromEntries(Object.entries(pairs).filter(isTextPair))),
  ),
  status_message: maybe(statusMessage),
  artifacts: maybe(understood(artifact)),
  request_usage: maybe(z.looseObject({})),
  /** ISO 8601 duration. */
  run_time: maybe(z.string()),
  execution_location: maybe(z.string()),
  is_run_type_cancellable: maybe(z.boolean()),
  parent_run_id: maybe(z.string()),
});
export type RunItem = z.infer<typeof runItem>;

export const pageInfo = z.looseObject({
  has_next_page: z.boolean(),
  next_cursor: maybe(z.string()),
});

/** `ListRunsResponse`. */
export const listResponse = z.looseObject({ runs: list(runItem), page_info: pageInfo });
export type ListResponse = z.infer<typeof listResponse>;

/** Query of `GET /agent/runs`; times are RFC 3339, `limit` is 1-500 (the service's default is 20). */
export interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly sort_by?: "updated_at" | "created_at" | "title" | "agent";
  readonly sort_order?: "asc" | "desc";
  readonly state?: readonly string[];
  readonly name?: string;
  readonly model_id?: string;
  readonly creator?: string;
  readonly source?: string;
  readonly created_after?: string;
  readonly created_before?: string;
  readonly updated_after?: string;
  readonly environment_id?: string;
  readonly skill?: string;
  readonly skill_spec?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly q?: string;
}

/** `RunFollowupRequest`. */
export const followUpRequest = z.looseObject({
  message: z.string().min(1),
  mode: z.enum(["normal", "plan", "orchestrate"]).optional(),
});
export type FollowUpRequest = z.infer<typeof followUpRequest>;

export const followUpResponse = z.looseObject({});
/** The cancelled run's id, a bare JSON string; an object with `run_id` is understood too. */
export const cancelResponse = z.union([
  z.string(),
  z.looseObject({ run_id: z.string() }).transform((body) => body.run_id),
]);

/** `type` is `text` (then `text` holds it), `action`, `action_result` or `event`. */
export const block = z.looseObject({ type: z.string(), text: maybe(z.string()) });
export const message = z.looseObject({
  role: z.string(),
  timestamp: maybe(z.string()),
  content: understood(block),
});
export type Message = z.infer<typeof message>;

export interface Step {
  readonly id: string;
  readonly description?: string | null | undefined;
  readonly summary?: string | null | undefined;
  readonly started_at?: string | null | undefined;
  readonly completed_at?: string | null | undefined;
  readonly messages: Message[];
  readonly steps: Step[];
}
export const step: z.ZodType<Step> = z.looseObject({
  id: z.string(),
  description: maybe(z.string()),
  summary: maybe(z.string()),
  started_at: maybe(z.string()),
  completed_at: maybe(z.string()),
  messages: list(message),
  get steps() {
    return list(step);
  },
});
export const conversation = z.looseObject({ conversation_id: z.string(), steps: list(step) });
export type Conversation = z.infer<typeof conversation>;

export const factory = z.looseObject({
  uid: z.string(),
  name: z.string(),
  alias: maybe(z.string()),
  aliases: maybe(z.array(z.string())),
});
export type Factory = z.infer<typeof factory>;
/** Paged like the runs; a list without paging is whole. */
export const factoryList = z.looseObject({ factories: list(factory), page_info: maybe(pageInfo) });

/** Problem document, RFC 7807; `type` ends in the error code. */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().optional(),
  error: z.string().optional(),
  detail: z.string().nullish(),
  instance: z.string().nullish(),
  retryable: z.boolean().nullish(),
  trace_id: z.string().nullish(),
  auth_url: z.string().nullish(),
  provider: z.string().nullish(),
});
export type Problem = z.infer<typeof problem>;

/** Error code → HTTP status and whether the same request may succeed later. */
export const errorCodes = {
  authentication_required: { status: 401, retryable: false },
  external_authentication_required: { status: 401, retryable: false },
  invalid_request: { status: 400, retryable: false },
  integration_not_configured: { status: 400, retryable: false },
  insufficient_credits: { status: 403, retryable: false },
  budget_exceeded: { status: 403, retryable: false },
  feature_not_available: { status: 403, retryable: false },
  integration_disabled: { status: 403, retryable: false },
  not_authorized: { status: 403, retryable: false },
  content_policy_violation: { status: 403, retryable: false },
  resource_not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: true },
  operation_not_supported: { status: 422, retryable: false },
  resource_unavailable: { status: 429, retryable: true },
  environment_setup_failed: { status: 500, retryable: false },
  internal_error: { status: 500, retryable: true },
} as const;
export type ErrorCode = keyof typeof errorCodes;
