import { eventually } from "#test/support/eventually.ts";
import { type World, written } from "./world.ts";

/** Alice's actions and view in the channel `general`. */
export function asking(world: World) {
  const replies = (ts: string, text: string) =>
    world
      .thread("general", ts)
      .filter((message) => message.ts !== ts && message.user === "UBOT" && written(message).includes(text));
  return {
    /** The bot's messages in the thread that contain this text. */
    replies,
    /** Requests a run and resolves with the thread of its card. */
    async ask(prompt: string): Promise<string> {
      const known = world.cards("general").length;
      await world.slack.slash({ user: "alice", channel: "general", text: `run ${prompt}` });
      return (await eventually("the card", () => world.cards("general")[known])).ts;
    },
    /** Waits until a card shows progress; from then on it has its button. */
    showsProgress: () =>
      eventually("the card", () =>
        world.cards("general").some((card) => written(card).includes("In progress")),
      ),
    replyWith: (ts: string, text: string) => eventually(`a reply with “${text}”`, () => replies(ts, text)[0]),
  };
}
