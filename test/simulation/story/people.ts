/** People's actions in one history, which depend on the seed and on what they see. */
import type { ButtonEvent, CommandEvent, LabelEvent, ReplyEvent } from "#core/event.ts";
import type { Person } from "#core/person.ts";
import type { Posted } from "#test/simulation/world/chat.ts";
import type { Deed, Deliveries } from "#test/simulation/world/deliveries.ts";
import {
  channel,
  foreignChannel,
  issues,
  lockedIssue,
  repository,
  type World,
} from "#test/simulation/world/world.ts";
import { Phrases, type Words } from "./phrases.ts";
import { createRandom, type Random } from "./random.ts";

const acts = {
  slash: 14,
  slashControl: 9,
  mention: 12,
  reply: 26,
  talkInThread: 7,
  aside: 2,
  button: 9,
  label: 9,
  githubCommand: 9,
  comment: 12,
  githubMention: 4,
} as const;

/** How long a card may take to be saved, even after a downtime; until then replies are delivered again. */
const recentMs = 24 * 60 * 60_000;

export class People {
  readonly #world: World;
  readonly #deliveries: Deliveries;
  readonly #random: Random;
  readonly #phrases: Phrases;
  /** Slack threads that people started, and those that a card started. */
  readonly #threads: string[] = [];
  #count = 0;

  constructor(world: World, deliveries: Deliveries) {
    this.#world = world;
    this.#deliveries = deliveries;
    this.#random = createRandom(world.machine.seed, "people");
    this.#phrases = new Phrases(this.#random, world.service);
  }

  act(): void {
    const act = this.#random.weighted(acts);
    switch (act) {
      case "slash":
        return this.#slash(this.#random.chance(0.85) ? this.#phrases.request("run ") : this.#phrases.wrong());
      case "slashControl":
        return this.#tellSlash(this.#phrases.control());
      case "mention":
        return this.#mention();
      case "reply":
        return this.#replyInSlack(this.#phrases.plain("say"), false);
      case "talkInThread":
        return this.#replyInSlack(this.#phrases.afterMention(), true);
      case "aside": {
        const { text, ...words } = this.#phrases.plain("nothing");
        return this.#replyInSlack({ ...words, text: `!aside ${text}` }, false);
      }
      case "button":
        return this.#press();
      case "label":
        return this.#label();
      case "githubCommand":
        return this.#command();
      case "comment":
        return this.#comment(this.#phrases.plain("say"), false);
      case "githubMention":
        return this.#comment(this.#phrases.afterMention(), true);
      default:
        return act satisfies never;
    }
  }

  #inSlack(): { by: Person; permitted: boolean } {
    const id = this.#random.weighted({ alice: 55, bob: 30, mallory: 11, otherbot: 4 });
    const bot = id === "otherbot";
    return { by: { platform: "slack", id, name: id, bot }, permitted: !bot && id !== "mallory" };
  }

  #onGitHub(): { by: Person; permitted: boolean } {
    const id = this.#random.weighted({ alice: 50, bob: 30, eve: 8, nobody: 7, "ci[bot]": 5 });
    const bot = id === "ci[bot]";
    return {
      by: { platform: "github", id, name: id, bot, permission: "unknown" },
      permitted: id === "alice" || id === "bob",
    };
  }

  #deed(event: Deed["event"], permitted: boolean, words: Omit<Words, "text">): Deed {
    const { intent, token, verb, target } = words;
    return { event, intent, permitted, token, verb, target, triedAt: null, ackedAt: null, acked: null };
  }

  /** Two people may want to follow the same run at the same time. */
  #tellSlash(words: Words): void {
    this.#slash(words);
    if (words.verb === "attach" && this.#random.chance(0.3)) this.#slash(words);
  }

  #slash(words: Words): void {
    this.#count += 1;
    const { by, permitted } = this.#inSlack();
    const scope = this.#random.chance(0.9) ? channel : foreignChannel;
    const event: CommandEvent = {
      kind: "command",
      id: `slack:interaction:i${this.#count}`,
      at: this.#world.slack.timeIn(scope),
      by,
      scope,
      place: null,
      text: words.text,
      answerVia: `https://hooks.example/${this.#count}`,
    };
    this.#deliveries.send(this.#deed(event, permitted, words));
  }

  #mention(): void {
    const message = this.#world.slack.next(channel);
    const place = `${channel}:${message.id}`;
    this.#threads.push(place);
    this.#inThread(place, message, this.#phrases.afterMention(), true, true);
  }

  #replyInSlack(words: Words, mention: boolean): void {
    const { posted, said } = this.#world.slack;
    // Nobody can reply to a deleted message that has no replies.
    const begun = posted.flatMap(({ kind, deletedAt, place }) =>
      kind === "card" && (deletedAt === null || said.has(place)) ? [place] : [],
    );
    const threads = [...this.#threads, ...begun];
    if (threads.length === 0) return this.#mention();
    // People mostly continue where they were last.
    const place = this.#random.chance(0.6) ? (threads.at(-1) ?? "") : this.#random.pick(threads);
    this.#inThread(place, this.#world.slack.next(channel), words, mention, false);
  }

  #inThread(
    place: string,
    { id: message, at }: { readonly id: string; readonly at: string },
    words: Words,
    mention: boolean,
    first: boolean,
  ): void {
    const { by, permitted } = this.#inSlack();
    const parent = this.#world.slack.posted.find(
      (posted) =>
        posted.kind === "card" && `${channel}:${posted.id}` === posted.place && posted.place === place,
    );
    const event: ReplyEvent = {
      kind: "reply",
      id: `slack:message:T1:C1:${message}`,
      at,
      by,
      scope: channel,
      place,
      text: words.text,
      message,
      mention,
      first,
      underOurs: false,
    };
    this.#world.slack.say(place, { author: by.id, at: event.at, text: event.text, message });
    this.#deliveries.send(this.#deed(event, permitted, words), (now) => ({
      ...event,
      underOurs: parent !== undefined && now - parent.at < recentMs,
    }));
  }

  #press(): void {
    const { posted } = this.#world.slack;
    const cards = posted.filter(({ kind, view }) => kind === "card" && view.actions.length > 0);
    if (cards.length === 0) return;
    const card = this.#random.chance(0.7) ? cards.at(-1) : this.#random.pick(cards);
    const action = card?.view.actions[0];
    if (card === undefined || action === undefined) return;
    const { by, permitted } = this.#inSlack();
    const clicks = this.#random.chance(0.3) ? 2 : 1;
    for (let click = 0; click < clicks; click += 1) this.#click(card, action, by, permitted);
  }

  #click(
    card: Posted,
    { action, dispatch }: Pick<ButtonEvent, "action" | "dispatch">,
    by: Person,
    permitted: boolean,
  ): void {
    this.#count += 1;
    const event: ButtonEvent = {
      kind: "button",
      id: `slack:interaction:b${this.#count}`,
      at: this.#world.slack.timeIn(channel),
      by,
      scope: channel,
      place: card.place,
      action,
      dispatch,
      answerVia: `https://hooks.example/${this.#count}`,
    };
    const words = { intent: "control", token: null, verb: action, target: dispatch } as const;
    this.#deliveries.send(this.#deed(event, permitted, words));
  }

  #issue = (): string => (this.#random.chance(0.06) ? lockedIssue : this.#random.pick(issues));

  #subject = (place: string) => ({
    title: "A flaky test",
    body: "It fails.",
    url: `https://github.example/${place}`,
    author: "eve",
    ...(place === lockedIssue ? { locked: true as const } : {}),
  });

  #label(): void {
    this.#count += 1;
    const { by, permitted } = this.#onGitHub();
    const place = this.#issue();
    const label = this.#random.chance(0.85) ? "agent" : "bug";
    const event: LabelEvent = {
      kind: "label",
      id: `github:delivery:d${this.#count}`,
      at: this.#world.github.timeIn(repository),
      by,
      scope: repository,
      place,
      label,
      subject: this.#subject(place),
    };
    const intent = label === "agent" ? "label" : "nothing";
    this.#deliveries.send(this.#deed(event, permitted, { intent, token: null, verb: null, target: null }));
  }

  #command(): void {
    const kind = this.#random.weighted({ run: 60, control: 30, wrong: 10 });
    const words =
      kind === "run"
        ? this.#phrases.request("run ")
        : kind === "control"
          ? this.#phrases.control()
          : this.#phrases.wrong();
    const { by, permitted } = this.#onGitHub();
    const place = this.#issue();
    const { id: message, at } = this.#world.github.next(repository);
    const event: CommandEvent = {
      kind: "command",
      id: `github:comment:${message}`,
      at,
      by,
      scope: repository,
      place,
      text: words.text,
      message,
      subject: this.#subject(place),
    };
    this.#world.github.say(place, { author: by.id, at: event.at, text: `/agent ${words.text}`, message });
    this.#deliveries.send(this.#deed(event, permitted, words));
  }

  #comment(words: Words, mention: boolean): void {
    const { by, permitted } = this.#onGitHub();
    const place = this.#issue();
    const { id: message, at } = this.#world.github.next(repository);
    const event: ReplyEvent = {
      kind: "reply",
      id: `github:comment:${message}`,
      at,
      by,
      scope: repository,
      place,
      text: words.text,
      message,
      mention,
      first: false,
      underOurs: false,
      subject: this.#subject(place),
    };
    this.#world.github.say(place, { author: by.id, at: event.at, text: words.text, message });
    this.#deliveries.send(this.#deed(event, permitted, words));
  }
}
