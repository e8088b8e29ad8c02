/** Counts the bot's requests by kind. */
import type { Plant } from "#test/simulation/world/bot-process.ts";
import type { Service } from "#test/simulation/world/service/runs-client.ts";

export class Counts {
  /** When each sweep began, in milliseconds from the start. */
  readonly sweptAt: number[] = [];
  /** The most effects of each kind that were under way at once. */
  readonly mostAtOnce = new Map<string, number>();
  readonly #underWay = new Map<string, number>();
  readonly #sinceStart: () => number;

  /** `sinceStart` returns the milliseconds from the start. */
  constructor(sinceStart: () => number) {
    this.#sinceStart = sinceStart;
  }

  /** Called when a process starts: requests of an earlier process are no longer under way. */
  readonly service = (service: Service): Service => {
    this.#underWay.clear();
    return {
      ...service,
      list: (query) => {
        if (query.sort_by === "updated_at" && query.cursor === undefined) {
          this.sweptAt.push(this.#sinceStart());
        }
        return service.list(query);
      },
      create: (request) => this.#count("agent-runs create", () => service.create(request)),
      followUp: (runId, request) =>
        this.#count("agent-runs follow-up", () => service.followUp(runId, request)),
      cancel: (runId) => this.#count("agent-runs cancel", () => service.cancel(runId)),
    };
  };

  readonly platform: NonNullable<Plant["platform"]> = (platform) => ({
    ...platform,
    perform: (effect, attempt) =>
      this.#count(`${platform.name} ${effect.kind}`, () => platform.perform(effect, attempt)),
  });

  #count<T>(kind: string, does: () => Promise<T>): Promise<T> {
    const add = (by: number): number => {
      const now = (this.#underWay.get(kind) ?? 0) + by;
      this.#underWay.set(kind, now);
      return now;
    };
    this.mostAtOnce.set(kind, Math.max(add(1), this.mostAtOnce.get(kind) ?? 0));
    return does().finally(() => add(-1));
  }
}
