/** What both platforms' stand-ins do with the bot's messages: they are kept where the judges look for them. */
import { placeAt } from "#core/place.ts";
import type { View } from "#core/view.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import { type ChatPlatform, headline, type Posted, scopeOf } from "#test/simulation/world/chat.ts";
import type { Machine } from "#test/simulation/world/machine.ts";
import type { Cause } from "./wire.ts";

export class Posts {
  readonly #machine: Machine;
  readonly #chat: ChatPlatform;
  readonly #copies: Random;

  constructor(machine: Machine, chat: ChatPlatform) {
    this.#machine = machine;
    this.#chat = chat;
    this.#copies = createRandom(machine.seed, `copies of ${chat.name}`);
  }

  /**
   * Chooses a copy that may lag. The function returns whether it shows what was made at `at`: what people did, by the
   * platform's clock, which is late only where it is read back; or what is `ours`, by the machine's time.
   */
  copy({ effect }: Cause): (at: number, ours: boolean) => boolean {
    const { lags, lagRate } = this.#machine.weather;
    const most = lags[this.#chat.name];
    const lagMs = most > 0 && (lagRate >= 1 || this.#copies.chance(lagRate)) ? most : 0;
    const now = (ours: boolean): number =>
      ours ? this.#machine.time.nowMs : this.#machine.clock(this.#chat.name);
    return (at, ours) => lagMs === 0 || (effect !== null && !ours) || at <= now(ours) - lagMs;
  }

  /** Adds a message. `effect`: the id that it carries on the wire; null: it carries none. */
  add(
    effect: string | null,
    place: (id: string) => string,
    view: View,
    { effect: cause, doubt }: Cause,
  ): Posted {
    if (cause === null || cause.kind === "twin-posts")
      throw new Error("Nothing is posted without an effect.");
    const carried = effect ?? cause.id;
    if (carried !== cause.id)
      this.#machine.violated("a message carries its effect", `${cause.id} posts as ${carried}`);
    const { id } = this.#chat.next(scopeOf(cause.at));
    const posted: Posted = {
      effect: carried,
      kind: cause.kind === "card" || cause.kind === "tell" ? cause.kind : "reply",
      id,
      place: place(id),
      dispatch: cause.kind === "card" ? cause.dispatch : null,
      person: cause.kind === "tell" ? cause.person.id : null,
      view,
      at: this.#machine.time.nowMs,
      deletedAt: null,
      doubt,
    };
    this.#chat.posted.push(posted);
    this.#machine.note(
      this.#chat.name,
      () => `${posted.kind} ${id} in ${posted.place} (${carried}): ${headline(view)}`,
    );
    return posted;
  }

  edit(posted: Posted, view: View): void {
    posted.view = view;
    this.#machine.note(this.#chat.name, () => `${posted.kind} of ${posted.dispatch} now: ${headline(view)}`);
  }

  remove(posted: Posted): void {
    posted.deletedAt ??= this.#machine.time.nowMs;
    this.#machine.note(this.#chat.name, () => `${posted.id}, a message of ${posted.effect}, is gone`);
  }

  /** Notes that the effect changed something in its place. */
  happened({ effect }: Cause): void {
    if (effect === null || effect.kind === "twin-posts") return;
    const at = placeAt(effect.at);
    const done = this.#chat.done.get(at) ?? [];
    this.#chat.done.set(at, done);
    done.push({ effect: effect.id, kind: effect.kind });
  }
}
