/** People's actions in Slack. Each resolves once the bot has acked it or Slack has given up delivering it. */

import { runIn, type Screen, type SlackCard } from "#test/kill/look.ts";
import type { Town } from "#test/kill/town.ts";
import type { Random } from "#test/simulation/story/random.ts";
import type { Deed, Deeds, Doing } from "./deeds.ts";

const team = "T0TOWN";
const people = ["alice", "bob", "carol"] as const;
const channels = ["general", "web", "ops"] as const;
const idOf = (name: string): string => `C0${name.toUpperCase()}`;
const placeOf = (channel: string, ts: string): string => `slack:${team}:${channel}:${ts}`;

type Act = () => Promise<unknown>;

export function createSlackDeeds(town: Town, random: Random, deeds: Deeds, look: () => Screen) {
  const { slack } = town;
  /** Sent commands, to be sent again. */
  const sent: { readonly deed: Deed; readonly body: string }[] = [];
  const somebody = (): string => random.pick(people);
  const begin = (by: string, kind: string, intent: Doing["intent"], target: string | null = null): Deed =>
    deeds.begin({ platform: "slack", by, kind, intent, target });
  const cardOf = (): SlackCard | null => {
    const { slackCards } = look();
    // People prefer recent threads.
    return slackCards.length === 0 ? null : random.pick(slackCards.slice(-30));
  };

  async function slash(deed: Deed, channel: string, text: string, forged = false): Promise<void> {
    const { by } = deed;
    const signature = forged ? ({ signature: "forged" } as const) : {};
    const { status, triggerId } = await slack.slash({ user: by, channel, text, ...signature });
    deed.event = `slack:interaction:${triggerId}`;
    deeds.met(deed, [status]);
    if (forged) return;
    const fields = {
      team_id: team,
      channel_id: idOf(channel),
      user_id: `U${by.toUpperCase()}`,
      user_name: by,
      command: "/agent",
      text,
      trigger_id: triggerId,
    };
    sent.push({ deed, body: new URLSearchParams(fields).toString() });
  }

  async function say(deed: Deed, channel: string, text: string, thread?: string): Promise<void> {
    const { ts, statuses } = await slack.say({
      user: deed.by,
      channel,
      text,
      ...(thread === undefined ? {} : { thread }),
    });
    deed.event = `slack:message:${team}:${channel}:${ts}`;
    deed.place = placeOf(channel, thread ?? ts);
    deeds.met(deed, statuses);
  }

  /** The message with the button; it may be gone when it is pressed. */
  const cardWith = (action: string): SlackCard | null => {
    const cards = look().slackCards.filter(({ text }) => text.includes(`"action_id":"${action}"`));
    return cards.length === 0 ? null : random.pick(cards.slice(-30));
  };

  async function press(by: string, action: "cancel" | "retry", card: SlackCard): Promise<boolean> {
    const pressing = slack.press({ user: by, channel: card.channel, ts: card.ts, action }).catch(() => null);
    const deed = begin(by, `press ${action}`, by === "mallory" ? "nothing" : action, card.dispatch);
    deed.place = placeOf(card.channel, card.root);
    const pressed = await pressing;
    if (pressed === null) return false;
    deed.event = `slack:interaction:${pressed.triggerId}`;
    deeds.met(deed, [pressed.status]);
    return true;
  }

  const run: Act = () => {
    const deed = begin(somebody(), "slash run", "run");
    return slash(deed, random.pick(channels), `run ${deeds.words(deed)}`);
  };

  async function again(): Promise<void> {
    if (random.chance(0.5) && sent.length > 0) {
      const { deed, body } = random.pick(sent.slice(-60));
      const contentType = "application/x-www-form-urlencoded";
      const answer = await slack.send(body, { contentType }).catch(() => null);
      return deeds.met(deed, [answer?.status ?? 0]);
    }
    const said = deeds.all.filter(
      ({ event, place }) => event?.startsWith("slack:message:") && place !== null,
    );
    if (said.length === 0) return;
    const deed = random.pick(said.slice(-60));
    const [, , , channel = "", ts = ""] = deed.event?.split(":") ?? [];
    const { statuses } = await slack.again({ channel, ts });
    deeds.met(deed, statuses);
  }

  const acts = {
    run,
    mention() {
      const deed = begin(somebody(), "mention", "run");
      return say(deed, idOf(random.pick(channels)), `@agent ${deeds.words(deed)}`);
    },
    reply() {
      const card = cardOf();
      if (card === null) return run();
      const deed = begin(somebody(), "reply", "follow-up", placeOf(card.channel, card.root));
      return say(deed, card.channel, deeds.words(deed), card.root);
    },
    mentionReply() {
      const card = cardOf();
      if (card === null) return run();
      const deed = begin(somebody(), "mention in a thread", "follow-up", placeOf(card.channel, card.root));
      return say(deed, card.channel, `@agent ${deeds.words(deed)}`, card.root);
    },
    runInThread() {
      const card = cardOf();
      if (card === null) return run();
      const deed = begin(somebody(), "run in a thread", "run");
      return say(deed, card.channel, `@agent run ${deeds.words(deed)}`, card.root);
    },
    async button() {
      const action = random.pick(["cancel", "cancel", "retry"] as const);
      const card = cardWith(action);
      if (card === null || !(await press(somebody(), action, card))) await run();
    },
    async doubleClick() {
      const action = random.pick(["cancel", "retry"] as const);
      const card = cardWith(action);
      if (card === null) return run();
      const by = somebody();
      const pressed = await Promise.all([press(by, action, card), press(by, action, card)]);
      if (!pressed.includes(true)) await run();
    },
    question() {
      const deed = begin(somebody(), "slash question", "answer");
      return slash(deed, random.pick(channels), random.pick(["status", "list", "help"]));
    },
    cancelByName() {
      const card = cardOf();
      const id = card === null ? null : runIn(card.text);
      if (card === null || id === null) return run();
      const deed = begin(somebody(), "slash cancel", "cancel", card.dispatch);
      const channel = channels.find((name) => idOf(name) === card.channel) ?? "general";
      return slash(deed, channel, `cancel ${id}`);
    },
    mistyped() {
      const deed = begin(somebody(), "slash mistyped", "answer");
      return slash(deed, random.pick(channels), `${deed.word} fix it`);
    },
    outside() {
      const deed = begin(somebody(), "slash run where the bot is not", "answer");
      return slash(deed, "closed", `run ${deeds.words(deed)}`);
    },
    aside() {
      const card = cardOf();
      if (card === null) return run();
      const deed = begin(somebody(), "aside", "nothing");
      return say(deed, card.channel, `!aside ${deed.word}`, card.root);
    },
    async stranger() {
      const card = cardOf();
      const way = random.whole(0, 3);
      if (way === 1 && card !== null) {
        const deed = begin("mallory", "stranger replies", "nothing");
        return say(deed, card.channel, deeds.words(deed), card.root);
      }
      const pressed = way === 2 ? cardWith("cancel") : null;
      if (pressed !== null && (await press("mallory", "cancel", pressed))) return;
      if (way === 3) {
        const deed = begin("mallory", "stranger mentions", "nothing");
        return say(deed, idOf(random.pick(channels)), `@agent ${deeds.words(deed)}`);
      }
      const deed = begin("mallory", "stranger's slash", "nothing");
      return slash(deed, random.pick(channels), `run ${deeds.words(deed)}`);
    },
    forged() {
      const deed = deeds.begin({
        platform: "slack",
        by: somebody(),
        kind: "forged slash",
        intent: "nothing",
        permitted: false,
      });
      return slash(deed, random.pick(channels), `run ${deeds.words(deed)}`, true);
    },
    again,
  } satisfies Record<string, Act>;

  const weights: Readonly<Record<keyof typeof acts, number>> = {
    run: 14,
    mention: 14,
    reply: 16,
    mentionReply: 6,
    runInThread: 3,
    button: 8,
    doubleClick: 3,
    question: 5,
    cancelByName: 2,
    mistyped: 3,
    outside: 1,
    aside: 2,
    stranger: 6,
    forged: 2,
    again: 8,
  };
  return {
    /** Performs a random action. */
    act: async (): Promise<void> => void (await acts[random.weighted(weights)]()),
    /** Answers in a thread. */
    reply(channel: string, root: string): Promise<void> {
      const deed = begin(somebody(), "answer to a question", "follow-up", placeOf(channel, root));
      return say(deed, channel, `look into ${deed.word}, do:quick`, root);
    },
  };
}

export type SlackDeeds = ReturnType<typeof createSlackDeeds>;
