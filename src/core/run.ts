import type { RunId } from "./place.ts";
/** A run as the API tells of it: the fields of `RunItem` that the bot uses, under their wire names. */
export interface Run {
  readonly run_id: RunId;
  readonly title: string;
  readonly prompt: string;
  /** QUEUED, PENDING, CLAIMED, INPROGRESS, BLOCKED, SUCCEEDED, FAILED, ERROR, CANCELLED, or one unknown to us. */
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

/** What is sent to create a run, under its wire names; `factory` sends it to that factory instead. */
export interface CreateRequest {
  readonly prompt: string;
  readonly title: string;
  readonly config: RunConfig;
  readonly skill?: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface RunConfig {
  readonly name: string;
  readonly model_id?: string;
  readonly base_prompt?: string;
  readonly environment_id?: string;
  readonly mcp_servers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Key of the run's metadata that holds the dispatch's id. */
export const dispatchKey = "agent-runs-bot.dispatch";
/** Key of the run's metadata that holds the scope (channel or repository) it was asked for in. */
export const scopeKey = "agent-runs-bot.scope";

const ended = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

/** True when no further change comes unless a follow-up continues the run. */
export const isEnded = (state: string): boolean => ended.has(state);

/** The line that names a dispatch or a follow-up inside a text that the agent reads. */
export const referenceLine = (id: string): string => `Reference: agent-runs-bot ${id}`;

/** The dispatch of ours that made the run; null: it was started elsewhere. */
export const dispatchOf = (run: Pick<Run, "metadata" | "prompt">): string | null =>
  run.metadata?.[dispatchKey] ?? /^Reference: agent-runs-bot (\S+)$/m.exec(run.prompt)?.[1] ?? null;
