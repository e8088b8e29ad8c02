import { botName, type LineChat } from "#test/line-chat/server.ts";
import type { Driver } from "./driver.ts";

/** Alice is permitted, and Bob is not. */
export async function lineChatDriver(chat: LineChat): Promise<Driver> {
  const alice = await chat.join("alice");
  const bob = await chat.join("bob");
  return {
    harmful: ["@channel", "@here", "@everyone", "@mallory"],
    async ask(prompt, as) {
      const id = await (as === "stranger" ? bob : alice).request(`say #general /agent run ${prompt}`);
      const say = (text: string): Promise<string> => alice.request(`say #general/${id} ${text}`);
      return {
        ours: () =>
          chat.messages.flatMap(({ thread, name, text }) =>
            thread === id && name === botName ? [text] : [],
          ),
        async reply(text) {
          const said = await say(text);
          return { isTaken: () => chat.marks(said).includes("taken") };
        },
        async command(words) {
          await say(`/agent ${words}`);
        },
        async deliverAgain() {
          await chat.tellAgain(id);
        },
      };
    },
    toldStranger: () => chat.whispers("bob"),
  };
}
