import type { RunId } from "./place.ts";
/** The fields of the API's `RunItem` that the bot uses, under their wire names. */
export interface Run {
  readonly run_id: RunId;
  readonly title: string;
  readonly prompt: string;
  /** QUEUED, PENDING, CLAIMED, INPROGRESS, BLOCKED, SUCCEEDED, FAILED, ERROR, CANCELLED, or a newer one. */
  readonly state: string;
  /** RFC 3339. */
  readonly created_at: string;
  /** RFC 3339. */
  readonly updated_at: string;
  readonly started_at?: string | null | undefined;
  readonly session_link?: string | null | undefined;
  readonly agent_config?:
    | { readonly name?: string | null | undefined; readonly model_id?: string | null | undefined }
    | null
    | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  /** The run that started this one. */
  readonly parent_run_id?: string | null | undefined;
  readonly status_message?:
    | { readonly message: string; readonly error_code?: string | null | undefined }
    | null
    | undefined;
  readonly artifacts?:
    | readonly {
        readonly artifact_type: string;
        readonly data?: Readonly<Record<string, unknown>> | null | undefined;
      }[]
    | null
    | undefined;
  /** ISO 8601 duration. */
  readonly run_time?: string | null | undefined;
}

/** The API's request to create a run, under its wire names. */
export interface CreateRequest {
  readonly prompt: string;
  readonly title: string;
  readonly config: RunConfig;
  readonly skill?: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The API's configuration of a run, under its wire names. */
export interface RunConfig {
  readonly name: string;
  readonly model_id?: string;
  readonly base_prompt?: string;
  readonly environment_id?: string;
  readonly mcp_servers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Metadata key of the dispatch's id. */
export const dispatchKey = "agent-runs-bot.dispatch";
/** Metadata key of the scope (channel or repository) of the request. */
export const scopeKey = "agent-runs-bot.scope";

const ended = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

/** Returns true for a final state, which only a follow-up can change. */
export const isEnded = (state: string): boolean => ended.has(state);

/** Returns the line that names a dispatch or a follow-up in a text for the agent. */
export const referenceLine = (id: string): string => `Reference: agent-runs-bot ${id}`;

/** Returns the id of the bot's dispatch that created the run; null if it was started elsewhere. */
export const dispatchOf = (run: Pick<Run, "metadata" | "prompt">): string | null =>
  run.metadata?.[dispatchKey] ?? /^Reference: agent-runs-bot (\S+)$/m.exec(run.prompt)?.[1] ?? null;
