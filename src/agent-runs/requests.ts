/** What callers send, as plain shapes; `schema.ts` has the rules that are checked before it is sent. */
import type { z } from "zod";
import type { FactoryRunRequest } from "./schema.ts";

/** `AmbientAgentConfig`, all of it optional; what is not named here passes through. */
export interface NewRunConfig {
  readonly name?: string;
  readonly model_id?: string;
  readonly base_prompt?: string;
  readonly environment_id?: string;
  readonly skill_spec?: string;
  readonly skills?: readonly string[];
  /** Name to server; each has exactly one of a `command`, a `url`, and a shared server's id (`warp_id`). */
  readonly mcp_servers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly worker_host?: string;
  readonly computer_use_enabled?: boolean;
  readonly computer_use_model_id?: string;
  readonly idle_timeout_minutes?: number;
  readonly runner_id?: string;
  readonly harness?: Readonly<Record<string, unknown>>;
  readonly harness_auth_secrets?: Readonly<Record<string, unknown>>;
  readonly session_sharing?: Readonly<Record<string, unknown>>;
  readonly memory_stores?: readonly Readonly<Record<string, unknown>>[];
  readonly inference_providers?: Readonly<Record<string, unknown>>;
  readonly credential_strategy?: string;
}

/** `RunAgentRequest`; a prompt or a skill is needed. */
export interface NewRun {
  readonly prompt?: string;
  readonly title?: string;
  readonly config?: NewRunConfig;
  /** `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`; wins over `config.skill_spec`. */
  readonly skill?: string;
  /** Continue where an earlier run left off. */
  readonly conversation_id?: string;
  /** At most 5; `data` is base64. */
  readonly attachments?: readonly {
    readonly file_name: string;
    readonly mime_type: string;
    readonly data: string;
  }[];
  /** At most 20 pairs, which never change; see `metadata` in `schema-run-requests.ts`. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly mode?: "normal" | "plan" | "orchestrate";
  readonly interactive?: boolean;
  readonly team?: boolean;
  readonly agent_identity_uid?: string;
  readonly on_behalf_of?: string;
  readonly parent_run_id?: string;
}

/** `RunFollowupRequest`. */
export interface FollowUp {
  readonly message: string;
  readonly mode?: "normal" | "plan" | "orchestrate";
}

/** What is asked of a factory: a prompt alone, or with more beside it. */
export type NewFactoryRun = string | Readonly<FactoryRunRequest>;

/** One value, several under the same name, or a map that is written `name[key]=value`. */
export type QueryValue =
  | string
  | number
  | boolean
  | undefined
  | readonly string[]
  | Readonly<Record<string, string>>;

/** A call of an endpoint that has no method of its own. */
export interface AnyRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Under the base URL, encoded, without a query: `agent/schedules`, with or without a slash before it. */
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The same request may be made twice. So it is for GET and HEAD; for others only if you say so. */
  readonly repeatable?: boolean;
}

/** What an answer's body must be. */
export interface Expecting<T> {
  readonly schema: z.ZodType<T>;
}

/** How tries are made: the client's defaults, and what one call may have otherwise. */
export interface TryOptions {
  /** Of each try, from the first byte sent to the last byte read, in ms; 60,000 if absent. */
  readonly timeoutMs?: number;
  /** Further tries after the first; 2 if absent. */
  readonly retries?: number;
  /** Pause before the first retry, in ms; 500 if absent. Each further one is twice as long, up to `maxBackoffMs`. */
  readonly backoffMs?: number;
  /** 8,000 if absent. */
  readonly maxBackoffMs?: number;
  /** If the service asks for a longer wait, the call rejects and leaves it to you; 30,000 ms if absent. */
  readonly maxRetryAfterMs?: number;
}

/** The last argument of every call. */
export interface CallOptions extends TryOptions {
  /** Gives the call up, its pauses between tries included. */
  readonly signal?: AbortSignal;
}
