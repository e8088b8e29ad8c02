/** The simulated world of one history: machine, disk, service, platforms, and the bot's processes. */
import type { Rules } from "#core/policy.ts";
import { withHours } from "#test/simulation/hours.ts";
import { createRandom } from "#test/simulation/story/random.ts";
import type { Script } from "#test/simulation/story/script.ts";
import { type BotProcess, createProcess, type Plant } from "./bot-process.ts";
import { ChatPlatform } from "./chat.ts";
import { Disk } from "./disk.ts";
import { Machine } from "./machine.ts";
import { RunsService } from "./runs-service.ts";
import { drawWeather } from "./weather.ts";

export const channel = "slack:T1:C1";
/** A channel that the bot is not a member of. */
export const foreignChannel = "slack:T1:C2";
export const repository = "github:octo/app";
export const issues = [1, 2, 3].map((number) => `${repository}#${number}`);
export const lockedIssue = `${repository}#9`;

export class World {
  readonly machine: Machine;
  readonly disk: Disk;
  readonly service: RunsService;
  readonly slack: ChatPlatform;
  readonly github: ChatPlatform;
  readonly rules: Rules;
  readonly #plant: Plant;
  #process: BotProcess | null = null;

  constructor(
    seed: number,
    {
      plant = {},
      recording = false,
      script = null,
      hours = false,
    }: { plant?: Plant; recording?: boolean; script?: Script | null; hours?: boolean } = {},
  ) {
    const drawn = drawWeather(seed);
    const weather = script?.weather ?? (hours ? withHours(seed, drawn) : drawn);
    this.machine = new Machine(seed, recording, script, weather);
    this.disk = new Disk(this.machine);
    this.service = new RunsService(this.machine);
    this.slack = new ChatPlatform(this.machine, "slack");
    this.github = new ChatPlatform(this.machine, "github");
    this.slack.shut.add(foreignChannel);
    this.github.shut.add(lockedIssue);
    this.github.permissions.set("alice", "write").set("bob", "write").set("eve", "read");
    this.#plant = plant;
    this.rules = {
      runName: "agent-runs-bot",
      defaults: {},
      scopes: {},
      labels: { agent: {} },
      mcpServers: {},
      replies: createRandom(seed, "rules").chance(0.1) ? "mention" : "all",
      allow: { slack: { people: ["alice", "bob"] } },
      retryForMs: 24 * 3_600_000,
      platforms: {
        slack: { hasStateLabels: false, help: [] },
        github: { hasStateLabels: true, help: [] },
      },
    };
    this.machine.onCrash = () => this.crash("crashes");
  }

  get process(): BotProcess | null {
    return this.#process;
  }

  start(): void {
    const { machine, disk, service, rules } = this;
    disk.reread();
    const started = createProcess({
      machine,
      disk,
      service,
      platforms: [this.slack, this.github],
      rules,
      plant: this.#plant,
    });
    this.#process = started;
    machine.note("bot", () => `process ${started.life.number} starts`);
    started.engine.start().catch((error: unknown) => {
      machine.note("bot", () => `can't start: ${String(error)}`);
      if (!started.life.dead) this.crash("gives up");
    });
  }

  /** Kills the process; another one starts some time later. */
  crash(how: string): void {
    const running = this.#process;
    if (running === null) return;
    this.#process = null;
    this.machine.note("bot", () => `process ${running.life.number} ${how}`);
    this.machine.kill(running.life);
    const { chance } = this.machine;
    this.machine.time.after(chance.between(100, chance.pick([2_000, 20_000, 120_000])), () => this.start());
  }

  /** Stops the process in an orderly way. */
  stop(): void {
    const running = this.#process;
    if (running === null) return;
    this.machine.note("bot", () => `process ${running.life.number} is told to stop`);
    void running.engine.stop().then(() => {
      if (this.#process === running) this.crash("has stopped");
    });
  }
}
