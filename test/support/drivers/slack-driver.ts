import { type World, written } from "#test/support/bot/world.ts";
import type { Driver } from "./driver.ts";

/** Alice is permitted, and Bob is not. */
export function slackDriver({ slack, thread, told }: World): Driver {
  const channel = "general";
  return {
    harmful: ["<!channel", "<!here", "<@UBOB>", "@channel", "@here", "@everyone"],
    async ask(prompt, as) {
      const user = as === "stranger" ? "bob" : "alice";
      const { ts } = await slack.say({ user, channel, text: `<@UBOT> run ${prompt}` });
      const all = () => thread(channel, ts);
      return {
        ours: () => all().flatMap((message) => (message.user === "UBOT" ? [written(message)] : [])),
        async reply(text) {
          const said = await slack.say({ user: "alice", channel, thread: ts, text });
          const marks = () => all().find((message) => message.ts === said.ts)?.reactions ?? [];
          return { isTaken: () => marks().some(({ name }) => name === "eyes") };
        },
        async command(words) {
          await slack.say({ user: "alice", channel, thread: ts, text: `<@UBOT> ${words}` });
        },
        async deliverAgain() {
          await slack.again({ channel, ts });
        },
      };
    },
    toldStranger: () => told("UBOB").map(written),
  };
}
