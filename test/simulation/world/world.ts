/** The simulated world of one history: machine, disk, service, platforms, and the bot's processes. */
import type { Rules } from "#core/policy.ts";
import { withHours } from "#test/simulation/hours.ts";
import { createRandom } from "#test/simulation/story/random.ts";
import type { Script } from "#test/simulation/story/script.ts";
import { RunsClients } from "#test/simulation/world/service/runs-client.ts";
import { RunsService } from "#test/simulation/world/service/runs-service.ts";
import { adapterOf } from "./adapters/adapter.ts";
import { type BotProcess, createProcess, type Plant } from "./bot-process.ts";
import { ChatPlatform } from "./chat.ts";
import { ChatPort } from "./chat-port.ts";
import { Disk, DiskError } from "./disk.ts";
import { type Life, Machine } from "./machine.ts";
import { everyFeature, type Feature } from "./troubles.ts";
import { drawWeather, type Weather } from "./weather.ts";

export const channel = "slack:T1:C1";
/** A channel that the bot is not a member of. */
export const foreignChannel = "slack:T1:C2";
export const repository = "github:octo/app";
export const issues = [1, 2, 3].map((number) => `github:100#${number}`);
export const lockedIssue = "github:100#9";

export class World {
  readonly machine: Machine;
  readonly disk: Disk;
  readonly service: RunsService;
  readonly slack: ChatPlatform;
  readonly github: ChatPlatform;
  readonly rules: Rules;
  readonly lives: Life[] = [];
  /** Called when the bot stays away for so many milliseconds. */
  onAway: (ms: number) => void = () => {};
  readonly #clients: RunsClients;
  readonly #ports: readonly ChatPort[];
  readonly #plant: Plant;
  #process: BotProcess | null = null;

  constructor(
    seed: number,
    {
      plant = {},
      recording = false,
      script = null,
      hours = false,
      features = new Set(everyFeature),
      weather: given = {},
    }: {
      plant?: Plant;
      recording?: boolean;
      script?: Script | null;
      hours?: boolean;
      features?: ReadonlySet<Feature>;
      /** Takes the place of what is drawn. */
      weather?: Partial<Weather>;
    } = {},
  ) {
    const drawn = drawWeather(seed, features);
    const weather = script?.weather ?? { ...(hours ? withHours(seed, drawn) : drawn), ...given };
    this.machine = new Machine(seed, recording, script, weather);
    this.disk = new Disk(this.machine);
    this.service = new RunsService(this.machine);
    this.slack = new ChatPlatform(this.machine, "slack");
    this.github = new ChatPlatform(this.machine, "github");
    this.#clients = new RunsClients(this.machine, this.service);
    this.#ports = [this.slack, this.github].map(
      (chat) =>
        new ChatPort(
          this.machine,
          chat,
          weather.adapters ? adapterOf(this.machine, chat, plant.fetch ?? ((call) => call)) : null,
        ),
    );
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
    const { machine, disk, rules } = this;
    disk.reread();
    const started = createProcess({
      machine,
      disk,
      service: this.#clients,
      platforms: this.#ports,
      absent: this.#absent(),
      rules,
      plant: this.#plant,
    });
    this.#process = started;
    this.lives.push(started.life);
    machine.note(
      "bot",
      () => `process ${started.life.number} starts${started.absent.map((name) => `, without ${name}`)}`,
    );
    started.engine.start().catch((error: unknown) => {
      machine.note("bot", () => `can't start: ${String(error)}`);
      if (!(error instanceof DiskError)) machine.violated("the bot starts", String(error));
      if (!started.life.dead) this.crash("gives up");
    });
  }

  /** The platforms that the next process lacks; somebody notices after some minutes. */
  #absent(): readonly string[] {
    const { weather, healed, chance, time } = this.machine;
    if (healed || weather.absenceRate === 0 || !chance.chance(weather.absenceRate)) return [];
    time.after(chance.between(20_000, 600_000), () => this.stop());
    return [chance.pick(["slack", "github"] as const)];
  }

  /** Nothing fails any more. */
  heal(): void {
    this.machine.healed = true;
    this.machine.note("world", () => "heals");
    if (this.#process !== null && (this.#process.absent.length > 0 || this.disk.unreadable !== null))
      this.stop();
  }

  /** Kills the process; another one starts some time later. */
  crash(how: string): void {
    const running = this.#process;
    if (running === null) return;
    this.#process = null;
    this.machine.note("bot", () => `process ${running.life.number} ${how}`);
    this.machine.kill(running.life);
    const { chance, time, weather, healed } = this.machine;
    const usualMs = chance.between(100, chance.pick([2_000, 20_000, 120_000]));
    const isAway = !healed && weather.awayRate > 0 && chance.chance(weather.awayRate);
    const ms = isAway ? chance.between(8, 40) * 60_000 : usualMs;
    if (isAway) this.onAway(ms);
    time.after(ms, () => this.start());
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
