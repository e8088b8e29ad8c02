/** The labels of GitHub's issues, with the events that tell how they changed. */
import { stateLabels } from "#core/effect.ts";
import type { LabelEvent } from "#core/event.ts";
import type { ChatPlatform } from "#test/simulation/world/chat.ts";
import type { Machine } from "#test/simulation/world/machine.ts";

/** One entry of the repository's list of issue events. */
export interface LabelChange {
  readonly id: number;
  readonly event: "labeled" | "unlabeled";
  readonly issue: number;
  readonly actor: { readonly login: string };
  readonly label: { readonly name: string };
  readonly created_at: string;
}

const isState = (name: string): boolean => stateLabels.some((label) => label === name);

export class IssueLabels {
  readonly #machine: Machine;
  readonly #chat: ChatPlatform;
  readonly #bot: string;
  readonly #made = new Set<string>();
  readonly #names = new Map<number, readonly string[]>();
  readonly #changes: LabelChange[] = [];
  /** Ids of people's label events, by the id of the change. */
  readonly #deliveries = new Map<number, string>();
  #read = 0;

  constructor(machine: Machine, chat: ChatPlatform, bot: string) {
    this.#machine = machine;
    this.#chat = chat;
    this.#bot = bot;
  }

  isMade = (name: string): boolean => this.#made.has(name);

  /** Returns false if the repository has the label already. */
  make(name: string): boolean {
    const isNew = !this.#made.has(name);
    this.#made.add(name);
    return isNew;
  }

  of = (issue: number): readonly { readonly name: string }[] =>
    this.#namesOf(issue).map((name) => ({ name }));

  add = (issue: number, names: readonly string[]) => this.set(issue, [...this.#namesOf(issue), ...names]);

  set(issue: number, names: readonly string[]) {
    const before = this.#namesOf(issue);
    const after = [...new Set(names)];
    for (const name of before) if (!after.includes(name)) this.#change("unlabeled", issue, this.#bot, name);
    for (const name of after) if (!before.includes(name)) this.#change("labeled", issue, this.#bot, name);
    this.#names.set(issue, after);
    const states = after.filter(isState);
    this.#chat.labels.set(`github:100#${issue}`, states.join(" and "));
    this.#machine.note("github", () => `issue ${issue} has the labels ${after.join(", ")}`);
    return this.of(issue);
  }

  /** The newest first, of those for whose time `isShown` is true. */
  events(isShown: (at: string) => boolean): readonly LabelChange[] {
    this.#catchUp();
    return this.#changes.filter(({ created_at }) => isShown(created_at)).toReversed();
  }

  /** When its labels changed. */
  timesOf = (issue: number): readonly { readonly createdAt: string }[] =>
    this.#changes.flatMap((one) => (one.issue === issue ? [{ createdAt: one.created_at }] : []));

  /** The id under which people's label was delivered. */
  deliveryOf = (change: number): string => this.#deliveries.get(change) ?? `github:labeled:${change}`;

  /** Labels that people put on an issue and that are gone, in words. */
  lost = (): readonly string[] =>
    this.#ofPeople()
      .filter(({ place, label }) => !this.#namesOf(Number(place.split("#")[1])).includes(label))
      .map(({ id, label, place }) => `${label} (${id}) is gone from ${place}`);

  #ofPeople = (): readonly LabelEvent[] =>
    this.#chat.readable.flatMap(({ event }) => (event.kind === "label" ? [event] : []));

  #namesOf(issue: number): readonly string[] {
    this.#catchUp();
    return this.#names.get(issue) ?? [];
  }

  /** Adds the labels that people have put on since. */
  #catchUp(): void {
    const labels = this.#ofPeople();
    for (; this.#read < labels.length; this.#read += 1) {
      const event = labels[this.#read];
      if (event === undefined) return;
      const issue = Number(event.place.split("#")[1]);
      const names = this.#names.get(issue) ?? [];
      this.#names.set(issue, [...new Set([...names, event.label])]);
      const id = this.#change("labeled", issue, event.by.id, event.label, event.at);
      this.#deliveries.set(id, event.id);
    }
  }

  #change(event: LabelChange["event"], issue: number, login: string, name: string, at?: string): number {
    const created_at = at ?? new Date(this.#machine.clock("github")).toISOString();
    const id = this.#changes.length + 1;
    this.#changes.push({ id, event, issue, actor: { login }, label: { name }, created_at });
    return id;
  }
}
