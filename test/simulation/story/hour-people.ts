/** People who act the same with and without an hour's outage: before, during and after it. */
import type { ButtonEvent, CommandEvent, LabelEvent, ReplyEvent } from "#core/event.ts";
import type { Person } from "#core/person.ts";
import type { Deed, Deliveries, Intent } from "#test/simulation/world/deliveries.ts";
import { channel, repository, type World } from "#test/simulation/world/world.ts";
import { createRandom, type Random } from "./random.ts";

const minute = 60_000;
export const downFromMs = 10 * minute;
export const downToMs = 70 * minute;
export const actsUntilMs = 76 * minute;

const rush = 24;

type Meaning = Pick<Deed, "intent" | "token" | "verb" | "target">;
interface Words extends Meaning {
  readonly text: string;
}

export class HourPeople {
  readonly #world: World;
  readonly #deliveries: Deliveries;
  readonly #random: Random;
  /** Places in which a run was requested, and slash commands that requested one before the outage. */
  readonly #slackPlaces: string[] = [];
  readonly #issues: string[] = [];
  readonly #slashed: string[] = [];
  #count = 0;

  constructor(world: World, deliveries: Deliveries) {
    this.#world = world;
    this.#deliveries = deliveries;
    this.#random = createRandom(world.machine.seed, "hour people");
  }

  /** Schedules people's actions. */
  prepare(): void {
    const before = [5_000, downFromMs - 3 * minute] as const;
    const lately = [downFromMs - 40_000, downFromMs - 2_000] as const;
    const during = [downFromMs + 1_000, downToMs - 5_000] as const;
    const after = [downToMs + 1_000, actsUntilMs] as const;
    for (const [window, runs, words] of [
      [before, 3, 6],
      [lately, 2, 1],
      [during, 8, 16],
      [after, 2, 4],
    ] as const) {
      const ask = [this.#slash, this.#mention, this.#label, this.#command];
      for (const act of ask) for (let count = 0; count < runs; count += 1) this.#at(window, act);
      for (const act of [this.#reply, this.#comment]) {
        for (let count = 0; count < words; count += 1) this.#at(window, act);
      }
      for (const act of [this.#cancelInSlack, this.#cancelOnGitHub, this.#press, this.#question]) {
        for (let count = 0; count < words / 4; count += 1) this.#at(window, act);
      }
    }
    // More at once than one kind of effect has slots: requests that hang must not hold up the rest.
    for (const act of [this.#slash, this.#label]) {
      for (let count = 0; count < rush; count += 1) {
        this.#at([downFromMs + 30 * minute, downFromMs + 30 * minute + 4_000], act);
      }
    }
    // Several messages in a row: their order must be kept.
    for (let word = 0; word < 4; word += 1) {
      this.#world.machine.time.after(downFromMs + 20 * minute + word * 1_500, () => {
        for (const place of this.#slackPlaces.slice(0, 3)) {
          this.#inThread(place, this.#words("say"), false, false);
        }
      });
    }
  }

  #at([fromMs, toMs]: readonly [number, number], act: () => void): void {
    this.#world.machine.time.after(this.#random.between(fromMs, toMs), act);
  }

  #words(intent: Intent, before = ""): Words {
    this.#count += 1;
    const token = `h${this.#count}x`;
    return { text: `${before}do ${token} please`, intent, token, verb: null, target: null };
  }

  #control(verb: string): Words {
    this.#count += 1;
    return { text: verb, intent: "control", token: null, verb, target: null };
  }

  readonly #now = (): string => new Date(this.#world.machine.time.nowMs).toISOString();
  readonly #slacker: Person = { platform: "slack", id: "alice", name: "alice", bot: false };
  readonly #coder: Person = { platform: "github", id: "bob", name: "bob", bot: false, permission: "unknown" };

  #send(event: Deed["event"], { text: _, ...meaning }: Words): void {
    this.#deliveries.send({ event, permitted: true, ...meaning, triedAt: null, ackedAt: null, acked: null });
  }

  readonly #slash = (): void => {
    this.#ask(this.#words("dispatch", "run "));
  };

  #ask(words: Words): void {
    const event: CommandEvent = {
      kind: "command",
      id: `slack:interaction:h${this.#count}`,
      at: this.#now(),
      by: this.#slacker,
      scope: channel,
      place: null,
      text: words.text,
      answerVia: `https://hooks.example/${this.#count}`,
    };
    if (words.intent === "dispatch" && this.#world.machine.sinceStart() < downFromMs - minute) {
      this.#slashed.push(event.id);
    }
    this.#send(event, words);
  }

  /** People's messages are numbered apart from the bot's, so that an outage does not change their ids. */
  #message(): string {
    const seconds = Math.floor(this.#world.machine.time.nowMs / 1_000);
    return `${seconds}.9${String(this.#count).padStart(5, "0")}`;
  }

  readonly #mention = (): void => {
    const words = this.#words("dispatch", "run ");
    const place = `${channel}:${this.#message()}`;
    this.#slackPlaces.push(place);
    this.#inThread(place, words, true, true);
  };

  #inThread(place: string, words: Words, mention: boolean, first: boolean): void {
    const message = first ? place.slice(channel.length + 1) : this.#message();
    const event: ReplyEvent = {
      kind: "reply",
      id: `slack:message:T1:C1:${message}`,
      at: this.#now(),
      by: this.#slacker,
      scope: channel,
      place,
      text: words.text,
      message,
      mention,
      first,
      underOurs: false,
    };
    this.#world.slack.say(place, { author: "alice", at: event.at, text: event.text, message });
    this.#send(event, words);
  }

  readonly #reply = (): void => {
    if (this.#slackPlaces.length === 0) return this.#mention();
    this.#inThread(this.#random.pick(this.#slackPlaces), this.#words("say"), false, false);
  };

  readonly #cancelInSlack = (): void => {
    if (this.#slackPlaces.length === 0) return this.#mention();
    this.#inThread(this.#random.pick(this.#slackPlaces), this.#control("cancel"), true, false);
  };

  /** Presses a button of a card from before the outage, which may be gone. */
  readonly #press = (): void => {
    if (this.#slashed.length === 0) return;
    const dispatch = this.#random.pick(this.#slashed);
    const card = this.#world.slack.posted.find(
      (posted) => posted.kind === "card" && posted.dispatch === dispatch,
    );
    if (card === undefined) return;
    const words = { ...this.#control("cancel"), target: dispatch };
    const event: ButtonEvent = {
      kind: "button",
      id: `slack:interaction:p${this.#count}`,
      at: this.#now(),
      by: this.#slacker,
      scope: channel,
      place: card.place,
      action: "cancel",
      dispatch,
      answerVia: `https://hooks.example/${this.#count}`,
    };
    this.#send(event, words);
  };

  readonly #question = (): void => {
    this.#ask(this.#control(this.#random.pick(["status", "list", "help"])));
  };

  #subject = (place: string) => ({
    title: "A flaky test",
    body: "It fails.",
    url: `https://github.example/${place}`,
    author: "bob",
  });

  #newIssue(): string {
    const issue = `${repository}#${100 + this.#count}`;
    this.#issues.push(issue);
    return issue;
  }

  readonly #label = (): void => {
    this.#count += 1;
    const place = this.#newIssue();
    const event: LabelEvent = {
      kind: "label",
      id: `github:delivery:h${this.#count}`,
      at: this.#now(),
      by: this.#coder,
      scope: repository,
      place,
      label: "agent",
      subject: this.#subject(place),
    };
    this.#send(event, { text: "", intent: "dispatch", token: null, verb: null, target: null });
  };

  readonly #command = (): void => {
    const words = this.#words("dispatch", "run ");
    this.#onIssue(this.#newIssue(), words);
  };

  readonly #cancelOnGitHub = (): void => {
    if (this.#issues.length === 0) return this.#command();
    this.#onIssue(this.#random.pick(this.#issues), this.#control("cancel"));
  };

  #onIssue(place: string, words: Words): void {
    const message = String(9_000_000 + this.#count);
    const event: CommandEvent = {
      kind: "command",
      id: `github:comment:${message}`,
      at: this.#now(),
      by: this.#coder,
      scope: repository,
      place,
      text: words.text,
      message,
      subject: this.#subject(place),
    };
    this.#world.github.say(place, { author: "bob", at: event.at, text: `/agent ${words.text}`, message });
    this.#send(event, words);
  }

  readonly #comment = (): void => {
    if (this.#issues.length === 0) return this.#command();
    const place = this.#random.pick(this.#issues);
    const words = this.#words("say");
    const message = String(9_000_000 + this.#count);
    const event: ReplyEvent = {
      kind: "reply",
      id: `github:comment:${message}`,
      at: this.#now(),
      by: this.#coder,
      scope: repository,
      place,
      text: words.text,
      message,
      mention: false,
      first: false,
      underOurs: false,
      subject: this.#subject(place),
    };
    this.#world.github.say(place, { author: "bob", at: event.at, text: words.text, message });
    this.#send(event, words);
  };
}
