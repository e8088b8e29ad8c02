/** A run as the service reports it, and pages of runs. */
import { z } from "zod";
import { resolvedConfig } from "./config.ts";
import { list, maybe, text, textMap, timestamp, understood } from "./lenient.ts";

/** The states of an ended run, which changes only if a follow-up continues it. */
export const endedStates = ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const;
/** Every state of the specification; a service may have more. */
export const knownStates = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED", ...endedStates] as const;

/** `RunStatusMessage`; `error_code` is one of the problem document's. */
export const statusMessage = z.looseObject({
  message: z.string(),
  error_code: maybe(z.string()),
  retryable: maybe(z.boolean()),
});

/** Each comment names the artifact types that have the field; all fields are optional. */
export const artifactData = z.looseObject({
  /** PULL_REQUEST, PLAN, EXTERNAL_REFERENCE. */
  url: maybe(z.string()),
  /** PULL_REQUEST. */
  branch: maybe(z.string()),
  /** PLAN. */
  document_uid: maybe(z.string()),
  /** PLAN, FILE, EXTERNAL_REFERENCE. */
  title: maybe(z.string()),
  /** SCREENSHOT, FILE, and some PLANs. */
  artifact_uid: maybe(z.string()),
  /** SCREENSHOT, FILE. */
  mime_type: maybe(z.string()),
  /** SCREENSHOT, FILE. */
  description: maybe(z.string()),
  /** FILE: the last part of `filepath`. */
  filename: maybe(z.string()),
  filepath: maybe(z.string()),
  size_bytes: maybe(z.number()),
  /** EXTERNAL_REFERENCE: a category, in the agent's words. */
  reference_type: maybe(z.string()),
});
/** Something that a run made. */
export const artifact = z.looseObject({
  /** `PULL_REQUEST`, `PLAN`, `SCREENSHOT`, `FILE`, `EXTERNAL_REFERENCE`, … */
  artifact_type: z.string(),
  created_at: maybe(z.string()),
  data: maybe(artifactData),
});
export type Artifact = z.infer<typeof artifact>;

/** Answer of `GET /agent/artifacts/{uid}`; times are RFC 3339. Comments as in `artifactData`. */
export const artifactResponse = z.looseObject({
  artifact_uid: z.string(),
  artifact_type: z.string(),
  created_at: maybe(z.string()),
  data: maybe(
    z.looseObject({
      /** PLAN: Markdown. */
      content: maybe(z.string()),
      content_type: maybe(z.string()),
      /** PLAN. */
      document_uid: maybe(z.string()),
      /** PLAN. */
      url: maybe(z.string()),
      /** PLAN, FILE. */
      title: maybe(z.string()),
      /** SCREENSHOT, FILE: a signed address, which needs no key. */
      download_url: maybe(z.string()),
      /** SCREENSHOT, FILE: end of `download_url`. */
      expires_at: maybe(z.string()),
      /** SCREENSHOT, FILE. */
      description: maybe(z.string()),
      /** FILE. */
      filename: maybe(z.string()),
      /** FILE: relative to the conversation's folder. */
      filepath: maybe(z.string()),
      /** FILE. */
      size_bytes: maybe(z.number()),
    }),
  ),
});
export type ArtifactResponse = z.infer<typeof artifactResponse>;

/** `RunCreatorInfo`; `type` is `user` or `service_account`. */
export const principal = z.looseObject({
  type: maybe(z.string()),
  uid: maybe(z.string()),
  display_name: maybe(z.string()),
  email: maybe(z.string()),
  photo_url: maybe(z.string()),
});

/** The owner of something: `type` is `User` or `Team`. */
export const scope = z.looseObject({ type: maybe(z.string()), uid: maybe(z.string()) });

/** Costs in credits, and in US dollars where their names say so. */
export const requestUsage = z.looseObject({
  inference_cost: maybe(z.number()),
  compute_cost: maybe(z.number()),
  platform_cost: maybe(z.number()),
  inference_cost_usd: maybe(z.number()),
  compute_cost_usd: maybe(z.number()),
  platform_cost_usd: maybe(z.number()),
  total_tokens: maybe(z.number()),
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
  /** `RunSourceType`, set by the service: `API`, `SLACK`, `GITHUB_WEBHOOK`, `CLI`, `WEB_APP`, … */
  source: maybe(z.string()),
  trigger_url: maybe(z.string()),
  metadata: maybe(textMap),
  status_message: maybe(statusMessage),
  artifacts: maybe(understood(artifact)),
  request_usage: maybe(requestUsage),
  /** ISO 8601 duration. */
  run_time: maybe(z.string()),
  /** `LOCAL` or `REMOTE`. */
  execution_location: maybe(z.string()),
  is_run_type_cancellable: maybe(z.boolean()),
  is_sandbox_running: maybe(z.boolean()),
  parent_run_id: maybe(z.string()),
  agent_skill: maybe(
    z.looseObject({
      name: maybe(z.string()),
      description: maybe(z.string()),
      full_path: maybe(z.string()),
      bundled_skill_id: maybe(z.string()),
    }),
  ),
  /** Only if a schedule started the run. */
  schedule: maybe(
    z.looseObject({
      schedule_id: maybe(z.string()),
      schedule_name: maybe(z.string()),
      cron_schedule: maybe(z.string()),
    }),
  ),
  scope: maybe(scope),
});
export type RunItem = z.infer<typeof runItem>;

/** Whether and where a list continues. */
export const pageInfo = z.looseObject({
  has_next_page: z.boolean(),
  next_cursor: maybe(z.string()),
});
export type PageInfo = z.infer<typeof pageInfo>;

/** `ListRunsResponse`. */
export const listResponse = z.looseObject({ runs: list(runItem), page_info: pageInfo });
export type ListResponse = z.infer<typeof listResponse>;
