/** The API's client, for one process, in front of the simulated service. */
import { dispatchKey, type Run } from "#core/run.ts";
import type { AgentRuns, Factories, Transcripts } from "#ports.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import {
  type Answer,
  type Doubt,
  isEarly,
  type Life,
  type Limit,
  type Machine,
} from "#test/simulation/world/machine.ts";
import { noAnswer } from "./no-answer.ts";
import { listRuns } from "./run-listing.ts";
import type { RunsService } from "./runs-service.ts";
import { Refused, type SimulatedRun } from "./simulated-run.ts";

export type Service = AgentRuns & Transcripts & Factories;

const mostRepeats = 2;

export class RunsClients {
  readonly #machine: Machine;
  readonly #service: RunsService;
  readonly #copies: Random;
  readonly #limits = new Map<string, Limit>();

  constructor(machine: Machine, service: RunsService) {
    this.#machine = machine;
    this.#service = service;
    this.#copies = createRandom(machine.seed, "copies");
  }

  /** The lag of the copy that answers a read. */
  #lag(kind: "runs" | "changes" | "fetch" | "conversation"): number {
    const { lags, lagRate } = this.#machine.weather;
    if (lags[kind] === 0) return 0;
    return lagRate >= 1 || this.#copies.chance(lagRate) ? lags[kind] : 0;
  }

  #fetch(runId: string): { run: Run; episode: number | null } {
    const { words } = this.#service.arrived(runId);
    const asOf = this.#machine.time.nowMs - this.#lag("fetch");
    const word = words.findLast(({ at }) => at <= asOf);
    if (word !== undefined) return word;
    throw new Refused({ status: 404, code: "resource_not_found", reason: "There is no such run yet." });
  }

  #messages(run: SimulatedRun) {
    const asOf = this.#machine.time.nowMs - this.#lag("conversation");
    const shown = run.conversation.filter(({ writtenAt }) => writtenAt <= asOf);
    return shown.map(({ role, text, at }) => ({ role, text, at }));
  }

  open(life: Life): Service {
    const service = this.#service;
    const read = <T>(does: () => T): Promise<T> => this.#call(life, null, does);
    const write = <T>(kind: string, does: (doubt: Doubt) => T): Promise<T> => {
      const doubt: Doubt = { life, since: null };
      return this.#call(life, kind, () => does(doubt)).finally(() => {
        doubt.since = this.#machine.time.nowMs;
      });
    };
    return {
      create: (request) =>
        write("create", (doubt) => {
          service.maybeRefuses(request.metadata[dispatchKey] ?? "");
          const run = service.add(request, request.config.name, request.metadata, doubt);
          return { run_id: run.id, state: "QUEUED" };
        }),
      list: (query) =>
        read(() =>
          listRuns(this.#machine, service, query, {
            random: this.#copies,
            runsMs: this.#lag("runs"),
            changesMs: this.#lag("changes"),
          }),
        ),
      fetch: async (runId) => {
        const { run, episode } = await read(() => this.#fetch(runId));
        const known = service.runs.get(runId);
        // Whole seconds and a clock that was set back may make it look like an earlier one, which a copy that lags still shows.
        const isAlike = known?.words.some(
          (word) =>
            (word.episode ?? 0) < (episode ?? 0) &&
            word.run.state === run.state &&
            word.run.updated_at === run.updated_at,
        );
        if (known !== undefined) known.fetched = { life: life.number, episode: isAlike ? null : episode };
        return run;
      },
      followUp: (runId, { message }) => {
        const fetched = service.runs.get(runId)?.fetched;
        const found = fetched?.life === life.number ? fetched.episode : null;
        return write("follow-up", (doubt) => service.followUp(runId, message, doubt, found));
      },
      cancel: (runId) => write("cancel", () => service.cancel(runId)),
      messages: (runId) => read(() => this.#messages(service.arrived(runId))),
      findFactory: (name) => read(() => (name === "fixers" ? "factory-1" : null)),
      dispatchToFactory: (_, prompt) =>
        write("create", (doubt) => {
          const { id } = service.add({ prompt }, "of-the-factory", undefined, doubt);
          return { run_id: id, state: "QUEUED" };
        }),
    };
  }

  async #call<T>(life: Life, writes: string | null, does: () => T): Promise<T> {
    const { time, weather } = this.#machine;
    const limit = writes === null ? undefined : this.#limits.get(writes);
    if (limit?.life === life.number && isEarly(limit, time.nowMs)) {
      this.#machine.violated("rate limits are obeyed", `${writes} came ${limit.until - time.nowMs} ms early`);
    }
    const makes = writes === "create" || writes === "follow-up";
    for (let repeats = 0; ; repeats += 1) {
      const answer: Answer<() => T> = await this.#machine.request(
        life,
        "agent-runs",
        () => {
          try {
            const value = does();
            return () => value;
          } catch (error) {
            return () => {
              throw error;
            };
          }
        },
        { makes },
      );
      if (answer.kind === "answered") return answer.value();
      const isSafe = answer.kind === "unreached" || (writes === null && answer.kind !== "limited");
      if (weather.clientRetries && isSafe && repeats < mostRepeats) {
        await this.#machine.outside(life, 500 * 2 ** repeats, () => {});
        continue;
      }
      if (answer.kind === "limited" && writes !== null) {
        const until = time.nowMs + answer.retryAfterMs;
        this.#limits.set(writes, { life: life.number, until, at: time.nowMs });
      }
      throw noAnswer(answer, writes);
    }
  }
}
