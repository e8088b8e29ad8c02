/** What callers send, as plain shapes; `schema.ts` has the rules that are checked before it is sent. */

/** `AmbientAgentConfig`, all of it optional. */
interface NewRunConfig {
  readonly name?: string;
  readonly model_id?: string;
  readonly base_prompt?: string;
  readonly environment_id?: string;
  readonly skill_spec?: string;
  /** Name to server; each has a `command`, a `url`, or a shared server's id. */
  readonly mcp_servers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly worker_host?: string;
  readonly computer_use_enabled?: boolean;
  readonly idle_timeout_minutes?: number;
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
  /** At most 20 pairs, which never change; see `metadata` in `schema.ts`. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly mode?: string;
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

/** The last argument of every call. */
export interface CallOptions {
  /** Gives the call up, its pauses between tries included. */
  readonly signal?: AbortSignal;
  /** Of each try, from the first byte sent to the last byte read. */
  readonly timeoutMs?: number;
  /** Further tries after the first. */
  readonly retries?: number;
}
