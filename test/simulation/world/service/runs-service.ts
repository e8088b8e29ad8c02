/** The simulated Agent Runs service, which follows the specification. */
import { dispatchKey, type Run } from "#core/run.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { Doubt, Machine } from "#test/simulation/world/machine.ts";
import {
  answerMark,
  episodeLink,
  isOver,
  isWaiting,
  Refused,
  type SimulatedRun,
  wordOn,
} from "./simulated-run.ts";

/** A follow-up that the service accepted. */
export interface Heard {
  readonly text: string;
  readonly run: SimulatedRun;
  readonly at: number;
  readonly doubt: Doubt | null;
  /** Its run ended before it began. */
  isLost: boolean;
}

export class RunsService {
  readonly runs = new Map<string, SimulatedRun>();
  /** Dispatches and follow-up texts that were finally refused. */
  readonly refused = new Set<string>();
  /** Every accepted follow-up, regardless of its run's end. */
  readonly heard: Heard[] = [];
  /** Other people's runs under the bot's name, each with the true time at which it was made. */
  readonly crowd: { readonly at: number; readonly run: Run }[] = [];
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
    doubt: Doubt | null = null,
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
      words: [{ at: this.#machine.time.nowMs, run: first, episode: null }],
      conversation: [],
      followUps: [],
      episodes: [],
      answers: [],
      found: new Set(),
      cancellable: !random.chance(0.05),
      cancels: [],
      refusesCancel: false,
      doubt,
      fetched: null,
      begun: false,
      random,
      callOff: () => {},
    };
    this.runs.set(id, run);
    this.#machine.note("service", () => `${id} is made: ${JSON.stringify(metadata ?? request.prompt)}`);
    this.#live(run);
    return run;
  }

  /** Adds a run that somebody else makes, so long after the start, and that never changes. */
  addToCrowd(name: string, sinceStartMs: number): void {
    const { time } = this.#machine;
    const at = time.startMs + sinceStartMs;
    const made = this.#stamp(this.#machine.clock("agent-runs") + at - time.nowMs);
    const run: Run = {
      run_id: `other-${this.crowd.length + 1}`,
      title: "another",
      prompt: "asked for by another bot",
      state: "INPROGRESS",
      created_at: made,
      updated_at: made,
      agent_config: { name },
    };
    this.crowd.push({ at, run });
  }

  #stamp = (ms: number): string =>
    new Date(this.#machine.weather.unordered ? ms - (ms % 1_000) : ms).toISOString();

  #now = (): string => this.#stamp(this.#machine.clock("agent-runs"));

  #say(run: SimulatedRun, role: "user" | "assistant", text: string): void {
    run.conversation.push({ role, text, at: this.#now(), writtenAt: this.#machine.time.nowMs });
  }

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
    if (run.conversation.length === 0) this.#say(run, "user", run.request.prompt);
    for (const text of run.followUps) {
      if (!run.conversation.some((said) => said.text === text)) this.#say(run, "user", text);
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
    const told = isOver(state) || state === "BLOCKED";
    if (told) {
      run.episodes.push(state);
      // Follow-ups that wait for a run that never starts are lost.
      if (!run.begun) {
        run.followUps.length = 0;
        for (const heard of this.heard) if (heard.run === run) heard.isLost = true;
      }
      const isSilent = run.random.chance(0.15) || !run.begun;
      const said = isSilent ? "" : answerMark(run.id, run.episodes.length);
      run.answers.push(said);
      this.#say(run, "assistant", said);
      run.callOff();
    }
    const before = wordOn(run);
    const { clocks, unordered } = this.#machine.weather;
    // Two changes have different times, unless the clock is set back or rounds its times.
    const least = Date.parse(before.updated_at) + (unordered ? 0 : 1);
    const now = Date.parse(this.#now());
    const updated = clocks["agent-runs"].steps.length > 0 ? now : Math.max(least, now);
    const url = episodeLink(run.id, run.episodes.length);
    const after: Run = {
      ...before,
      state,
      updated_at: new Date(updated).toISOString(),
      artifacts: told ? [{ artifact_type: "EXTERNAL_REFERENCE", data: { url, title: url } }] : [],
    };
    const episode = told ? run.episodes.length : null;
    run.words.push({ at: this.#machine.time.nowMs, run: after, episode });
    this.#machine.note("service", () => `${run.id} is ${state}`);
  }

  /** The world heals: runs that would wait for ever end. With `mayWait` some keep waiting for people. */
  heal(mayWait: boolean): void {
    for (const run of this.runs.values()) {
      const { state } = wordOn(run);
      if (isOver(state)) continue;
      if (isWaiting(state) && mayWait && run.random.chance(0.6)) continue;
      if (state === "QUEUED" || state === "PENDING") continue;
      this.#later(run, run.random.between(1_000, 120_000), () => {
        if (isOver(wordOn(run).state)) return;
        // An answer outside the bot begins a new turn.
        if (state === "BLOCKED") this.#say(run, "user", "Go on.");
        this.#end(run);
      });
    }
  }

  arrived(runId: string): SimulatedRun {
    const run = this.runs.get(runId);
    if (run === undefined) {
      throw new Refused({ status: 404, code: "resource_not_found", reason: "There is no such run." });
    }
    return run;
  }

  maybeRefuses(what: string): void {
    if (this.#machine.healed || !this.#random.chance(this.#machine.weather.refusalRate)) return;
    this.refused.add(what);
    throw new Refused({ status: 403, code: "budget_exceeded", reason: "The budget is used up." });
  }

  /** `found`: the episode that the bot fetched just before. */
  followUp(runId: string, message: string, doubt: Doubt, found: number | null): void {
    const run = this.arrived(runId);
    const { state } = wordOn(run);
    this.maybeRefuses(message);
    run.followUps.push(message);
    this.heard.push({ text: message, run, at: this.#machine.time.nowMs, doubt, isLost: false });
    if (found !== null) run.found.add(found);
    this.#machine.note("service", () => `${run.id} (${state}) gets ${JSON.stringify(message.slice(0, 60))}`);
    if (run.begun) this.#say(run, "user", message);
    if (!isOver(state) && state !== "BLOCKED") return;
    const goOn = (): void => {
      this.turn(run, isOver(state) ? "QUEUED" : "INPROGRESS");
      if (isOver(state)) this.#live(run);
      else this.#work(run);
    };
    // The message is taken, but the run's new state may appear a little later.
    if (run.random.chance(0.6)) goOn();
    else this.#later(run, run.random.between(10, 3_000), goOn);
  }

  cancel(runId: string): string {
    const run = this.arrived(runId);
    const { state } = wordOn(run);
    if (isOver(state)) throw new Refused({ status: 400, code: "invalid_request", reason: "It has ended." });
    if (state === "PENDING") {
      throw new Refused({ status: 409, code: "conflict", retryable: true, reason: "It is being prepared." });
    }
    if (!run.cancellable || state === "BLOCKED") {
      run.refusesCancel = true;
      throw new Refused({
        status: 422,
        code: "operation_not_supported",
        reason: "This run can't be cancelled.",
      });
    }
    run.cancels.push(this.#machine.time.nowMs);
    if (run.random.chance(0.6)) this.turn(run, "CANCELLED");
    else {
      this.#later(run, run.random.between(100, 5_000), () => {
        if (!isOver(wordOn(run).state)) this.turn(run, "CANCELLED");
      });
    }
    return runId;
  }
}
