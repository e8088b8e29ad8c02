import type { TranscriptMessage } from "#core/answer.ts";
import type { CreateRequest, Run } from "#core/run.ts";
import type { AgentRuns, ApiFault, Clock, Factories, RunQuery, Transcripts } from "#ports.ts";

/** An error like those of the API's client. */
export class Refusal extends Error implements ApiFault {
  readonly certainty: ApiFault["certainty"];
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly reason: string;
  readonly link: string | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(fault: Partial<ApiFault>) {
    super(fault.reason ?? "refused");
    this.certainty = fault.certainty ?? "refused";
    this.retryable = fault.retryable ?? false;
    this.status = fault.status;
    this.code = fault.code;
    this.reason = fault.reason ?? "refused";
    this.link = fault.link;
    this.retryAfterMs = fault.retryAfterMs;
  }
}

type Call = "create" | "list" | "fetch" | "followUp" | "cancel" | "messages" | "dispatchToFactory";

/** An API in memory that lists runs like the real one and can simulate failures. */
export class StandInApi implements AgentRuns, Transcripts, Factories {
  readonly runs = new Map<string, Run>();
  readonly conversations = new Map<string, TranscriptMessage[]>();
  readonly factoryUids = new Map<string, string>();
  readonly calls: Call[] = [];
  readonly queries: RunQuery[] = [];
  readonly ignores = new Set<"name" | "created_after" | "updated_after">();
  /** Called before each call takes effect; it may throw, or wait. */
  before: (call: Call) => Promise<void> | void = () => {};
  /** Called after each call took effect; it may throw to hide the result from the caller. */
  afterwards: (call: Call) => Promise<void> | void = () => {};
  /** The API's clock is ahead of true time by this, or behind it. */
  skewMs = 0;
  /** Whether pages have the time of the API's clock. */
  givesTime = false;
  /** Lists, and fetches by id, show runs as they were so long ago. */
  listLagMs = 0;
  fetchLagMs = 0;
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #words = new Map<string, { readonly at: number; readonly run: Run }[]>();
  pageSize = 500;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.now() - clock.elapsed();
  }

  count(call: Call): number {
    return this.calls.filter((made) => made === call).length;
  }

  async #call<T>(call: Call, does: () => T): Promise<T> {
    this.calls.push(call);
    await this.before(call);
    const result = does();
    await this.afterwards(call);
    return result;
  }

  #nowMs = (): number => this.#startMs + this.#clock.elapsed() + this.skewMs;
  #now = (): string => new Date(this.#nowMs()).toISOString();

  #keep(run: Run): void {
    this.runs.set(run.run_id, run);
    const words = this.#words.get(run.run_id) ?? [];
    this.#words.set(run.run_id, [...words, { at: this.#clock.elapsed(), run }]);
  }

  /** Returns the run as it was `lagMs` ago. */
  #asOf(run: Run, lagMs: number): Run | undefined {
    if (lagMs === 0) return run;
    const until = this.#clock.elapsed() - lagMs;
    return this.#words.get(run.run_id)?.findLast(({ at }) => at <= until)?.run;
  }

  add(run: Partial<Run> & { run_id: string }): Run {
    const added: Run = {
      title: "t",
      prompt: "p",
      state: "QUEUED",
      created_at: this.#now(),
      updated_at: this.#now(),
      agent_config: { name: "bot" },
      ...run,
    };
    this.#keep(added);
    return added;
  }

  /** Changes the run. */
  turn(runId: string, state: string): void {
    const run = this.runs.get(runId);
    if (run === undefined) throw new Error(`there is no run ${runId}`);
    this.#keep({ ...run, state, updated_at: this.#now() });
  }

  create(request: CreateRequest) {
    return this.#call("create", () =>
      this.add({
        run_id: `run-${this.runs.size + 1}`,
        title: request.title,
        prompt: request.prompt,
        metadata: request.metadata,
        agent_config: request.config,
      }),
    );
  }

  list(query: RunQuery) {
    return this.#call("list", () => {
      this.queries.push(query);
      const by = query.sort_by ?? "updated_at";
      const heeds = (filter: "name" | "created_after" | "updated_after") =>
        query[filter] !== undefined && !this.ignores.has(filter);
      const later = (time: string, than: string | undefined) => Date.parse(time) > Date.parse(than ?? "");
      const matching = [...this.runs.values()]
        .flatMap((run) => this.#asOf(run, this.listLagMs) ?? [])
        .filter((run) => !heeds("name") || run.agent_config?.name === query.name)
        .filter((run) => !heeds("created_after") || later(run.created_at, query.created_after))
        .filter((run) => !heeds("updated_after") || later(run.updated_at, query.updated_after))
        .sort((one, two) => Date.parse(two[by]) - Date.parse(one[by]));
      if (query.sort_order === "asc") matching.reverse();
      const from = Number(query.cursor ?? 0);
      const to = from + Math.min(query.limit ?? 20, this.pageSize);
      const more = to < matching.length;
      return {
        runs: matching.slice(from, to),
        page_info: { has_next_page: more, ...(more ? { next_cursor: String(to) } : {}) },
        ...(this.givesTime ? { servedAt: this.#nowMs() } : {}),
      };
    });
  }

  fetch(runId: string) {
    return this.#call("fetch", () => {
      const run = this.runs.get(runId);
      const shown = run && this.#asOf(run, this.fetchLagMs);
      if (shown === undefined) throw new Refusal({ status: 404, code: "resource_not_found" });
      return shown;
    });
  }

  followUp(runId: string, { message }: { readonly message: string }) {
    return this.#call("followUp", () => {
      const messages = this.conversations.get(runId) ?? [];
      this.conversations.set(runId, [...messages, { role: "user", text: message }]);
    });
  }

  cancel(runId: string) {
    return this.#call("cancel", () => this.turn(runId, "CANCELLED"));
  }

  messages(runId: string): Promise<TranscriptMessage[] | null> {
    return this.#call("messages", () => this.conversations.get(runId) ?? []);
  }

  async findFactory(nameOrUid: string) {
    return this.factoryUids.get(nameOrUid) ?? null;
  }

  dispatchToFactory(uid: string, prompt: string) {
    return this.#call("dispatchToFactory", () =>
      this.add({ run_id: `run-${this.runs.size + 1}`, prompt, agent_config: { name: uid } }),
    );
  }
}
