/** The simulated Agent Runs service, which follows the specification. */
import { dispatchKey, isEnded, type Run } from "#core/run.ts";
import type { AgentRuns, Factories, Transcripts } from "#ports.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import { type Answer, isEarly, type Life, type Limit, type Machine } from "./machine.ts";
import { noAnswer } from "./no-answer.ts";
import { listRuns } from "./run-listing.ts";
import { answerMark, episodeLink, isWaiting, Refused, type SimulatedRun, wordOn } from "./simulated-run.ts";

export class RunsService {
  readonly runs = new Map<string, SimulatedRun>();
  /** Dispatches and follow-up texts that were finally refused. */
  readonly refused = new Set<string>();
  /** Every accepted follow-up text, regardless of its run's end. */
  readonly heard: string[] = [];
  readonly #machine: Machine;
  readonly #random: Random;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#random = createRandom(machine.seed, "runs");
  }

  add(
    request: SimulatedRun["request"],
    name: string | null,
    metadata?: Readonly<Record<string, string>>,
  ): SimulatedRun {
    const id = `run-${this.runs.size + 1}`;
    const random = this.#machine.lifeOf(metadata?.[dispatchKey] ?? request.prompt, this.#random);
    const now = this.#now();
    const first: Run = {
      run_id: id,
      title: request.title ?? "a run",
      prompt: request.prompt,
      state: "QUEUED",
      created_at: now,
      updated_at: now,
      agent_config: { name },
      ...(metadata === undefined ? {} : { metadata }),
    };
    const run: SimulatedRun = {
      id,
      request,
      name,
      words: [{ at: this.#machine.time.nowMs, run: first }],
      conversation: [],
      followUps: [],
      episodes: [],
      answers: [],
      cancellable: !random.chance(0.05),
      cancels: 0,
      begun: false,
      random,
      callOff: () => {},
    };
    this.runs.set(id, run);
    this.#machine.note("service", () => `${id} is made: ${JSON.stringify(metadata ?? request.prompt)}`);
    this.#live(run);
    return run;
  }

  #now = (): string => new Date(this.#machine.time.nowMs + this.#machine.weather.apiSkewMs).toISOString();

  #later(run: SimulatedRun, ms: number, what: () => void): void {
    run.callOff();
    run.callOff = this.#machine.time.after(ms, what);
  }

  /** The delay of a run's next step; some runs end before the bot looks. */
  #soon = ({ random }: SimulatedRun, most: number): number =>
    random.chance(0.2) ? random.between(5, 200) : random.between(200, most);

  #live(run: SimulatedRun): void {
    const { random } = run;
    this.#later(run, this.#soon(run, 8_000), () => {
      const step = random.weighted({ PENDING: 3, CLAIMED: 2, WARMING_UP: 1, INPROGRESS: 5 });
      this.turn(run, step);
      if (step === "INPROGRESS") this.#work(run);
      else {
        this.#later(run, this.#soon(run, 6_000), () => {
          this.turn(run, "INPROGRESS");
          this.#work(run);
        });
      }
    });
  }

  #work(run: SimulatedRun): void {
    const { random } = run;
    run.begun = true;
    if (run.conversation.length === 0)
      run.conversation.push({ role: "user", text: run.request.prompt, at: this.#now() });
    for (const text of run.followUps) {
      if (!run.conversation.some((said) => said.text === text))
        run.conversation.push({ role: "user", text, at: this.#now() });
    }
    const kind = random.weighted({ end: 60, block: 22, touch: 10, stay: 4, long: 4, pause: 3 });
    switch (kind) {
      case "end":
        return this.#later(run, this.#soon(run, 25_000), () => this.#end(run));
      case "block":
        return this.#later(run, this.#soon(run, 20_000), () => this.turn(run, "BLOCKED"));
      case "pause":
        return this.#later(run, this.#soon(run, 20_000), () => this.turn(run, "PAUSED"));
      case "touch":
        return this.#later(run, this.#soon(run, 10_000), () => {
          this.turn(run, "INPROGRESS");
          this.#work(run);
        });
      case "long":
        return this.#later(run, random.between(60_000, 900_000), () => this.#end(run));
      case "stay":
        if (this.#machine.healed) this.#later(run, this.#soon(run, 25_000), () => this.#end(run));
        return;
      default:
        return kind satisfies never;
    }
  }

  #end(run: SimulatedRun): void {
    this.turn(run, run.random.weighted({ SUCCEEDED: 60, FAILED: 20, ERROR: 15, CANCELLED: 5 }));
  }

  turn(run: SimulatedRun, state: string): void {
    const told = isEnded(state) || state === "BLOCKED";
    if (told) {
      run.episodes.push(state);
      // Follow-ups that wait for a run that never starts are lost.
      if (!run.begun) run.followUps.length = 0;
      const said = run.random.chance(0.15) ? "" : answerMark(run.id, run.episodes.length);
      run.answers.push(said);
      run.conversation.push({ role: "assistant", text: said, at: this.#now() });
      run.callOff();
    }
    const before = wordOn(run);
    const updated = Math.max(Date.parse(before.updated_at) + 1, Date.parse(this.#now()));
    const url = episodeLink(run.id, run.episodes.length);
    const after: Run = {
      ...before,
      state,
      updated_at: new Date(updated).toISOString(),
      artifacts: told ? [{ artifact_type: "EXTERNAL_REFERENCE", data: { url, title: url } }] : [],
    };
    run.words.push({ at: this.#machine.time.nowMs, run: after });
    this.#machine.note("service", () => `${run.id} is ${state}`);
  }

  /** The world heals: runs that would wait for ever end. With `mayWait` some keep waiting for people. */
  heal(mayWait: boolean): void {
    for (const run of this.runs.values()) {
      const { state } = wordOn(run);
      if (isEnded(state)) continue;
      if (isWaiting(state) && mayWait && run.random.chance(0.6)) continue;
      if (state === "QUEUED" || state === "PENDING") continue;
      this.#later(run, run.random.between(1_000, 120_000), () => {
        if (isEnded(wordOn(run).state)) return;
        // An answer outside the bot begins a new turn.
        if (state === "BLOCKED") run.conversation.push({ role: "user", text: "Go on.", at: this.#now() });
        this.#end(run);
      });
    }
  }

  #arrived(runId: string): SimulatedRun {
    const run = this.runs.get(runId);
    if (run === undefined) {
      throw new Refused({ status: 404, code: "resource_not_found", reason: "There is no such run." });
    }
    return run;
  }

  #maybeRefuses(what: string): void {
    if (this.#machine.healed || !this.#random.chance(this.#machine.weather.refusalRate)) return;
    this.refused.add(what);
    throw new Refused({ status: 403, code: "budget_exceeded", reason: "The budget is used up." });
  }

  #followUp(runId: string, message: string): void {
    const run = this.#arrived(runId);
    const { state } = wordOn(run);
    this.#maybeRefuses(message);
    run.followUps.push(message);
    this.heard.push(message);
    this.#machine.note("service", () => `${run.id} (${state}) gets ${JSON.stringify(message.slice(0, 60))}`);
    if (run.begun) run.conversation.push({ role: "user", text: message, at: this.#now() });
    if (!isEnded(state) && state !== "BLOCKED") return;
    const goOn = (): void => {
      this.turn(run, isEnded(state) ? "QUEUED" : "INPROGRESS");
      if (isEnded(state)) this.#live(run);
      else this.#work(run);
    };
    // The message is taken, but the run's new state may appear a little later.
    if (run.random.chance(0.6)) goOn();
    else this.#later(run, run.random.between(10, 3_000), goOn);
  }

  #cancel(runId: string): string {
    const run = this.#arrived(runId);
    const { state } = wordOn(run);
    if (isEnded(state)) throw new Refused({ status: 400, code: "invalid_request", reason: "It has ended." });
    if (state === "PENDING") {
      throw new Refused({ status: 409, code: "conflict", retryable: true, reason: "It is being prepared." });
    }
    if (!run.cancellable || state === "BLOCKED") {
      throw new Refused({
        status: 422,
        code: "operation_not_supported",
        reason: "This run can't be cancelled.",
      });
    }
    run.cancels += 1;
    if (run.random.chance(0.6)) this.turn(run, "CANCELLED");
    else {
      this.#later(run, run.random.between(100, 5_000), () => {
        if (!isEnded(wordOn(run).state)) this.turn(run, "CANCELLED");
      });
    }
    return runId;
  }

  /** The API's client, for one process. */
  open(life: Life): AgentRuns & Transcripts & Factories {
    const read = <T>(does: () => T): Promise<T> => this.#call(life, null, does);
    const write = <T>(kind: string, does: () => T): Promise<T> => this.#call(life, kind, does);
    return {
      create: (request) =>
        write("create", () => {
          this.#maybeRefuses(request.metadata[dispatchKey] ?? "");
          const run = this.add(request, request.config.name, request.metadata);
          return { run_id: run.id, state: "QUEUED" };
        }),
      list: (query) => read(() => listRuns(this.#machine, this.runs.values(), query)),
      fetch: (runId) => read(() => wordOn(this.#arrived(runId))),
      followUp: (runId, { message }) => write("follow-up", () => this.#followUp(runId, message)),
      cancel: (runId) => write("cancel", () => this.#cancel(runId)),
      messages: (runId) =>
        read(() => {
          const run = this.#arrived(runId);
          return run.begun ? [...run.conversation] : null;
        }),
      findFactory: (name) => read(() => (name === "fixers" ? "factory-1" : null)),
      dispatchToFactory: (_, prompt) =>
        write("create", () => ({ run_id: this.add({ prompt }, "of-the-factory").id, state: "QUEUED" })),
    };
  }

  readonly #limits = new Map<string, Limit>();

  async #call<T>(life: Life, writes: string | null, does: () => T): Promise<T> {
    const { time } = this.#machine;
    const limit = writes === null ? undefined : this.#limits.get(writes);
    if (limit?.life === life.number && isEarly(limit, time.nowMs) && limit.at > this.#machine.jumpedAt) {
      this.#machine.violated("rate limits are obeyed", `${writes} came ${limit.until - time.nowMs} ms early`);
    }
    const answer: Answer<() => T> = await this.#machine.request(life, "agent-runs", () => {
      try {
        const value = does();
        return () => value;
      } catch (error) {
        return () => {
          throw error;
        };
      }
    });
    if (answer.kind === "answered") return answer.value();
    if (answer.kind === "limited" && writes !== null) {
      const until = time.nowMs + answer.retryAfterMs;
      this.#limits.set(writes, { life: life.number, until, at: time.nowMs });
    }
    throw noAnswer(answer, writes);
  }
}
