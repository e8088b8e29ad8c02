/** A town for one story, in which little happens and everything can be named. */
import { readFileSync } from "node:fs";
import type { TestContext } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { lookFromOutside, type Post } from "./outside.ts";
import { createTown, repo, type TownOptions } from "./town.ts";

/** Closed when the test is over. */
export async function storyTown({ onTestFinished }: TestContext, options: TownOptions = {}) {
  const town = await createTown(options);
  onTestFinished(() => town.close());
  await town.startService();

  const posts = async (place: string): Promise<readonly Post[]> =>
    (await lookFromOutside(town)).posts.filter((post) => post.place === place);

  return {
    ...town,
    posts,
    start: async (limits?: readonly string[]): Promise<void> => {
      if (!(await town.startBot(limits).up))
        throw new Error(`the bot did not start: ${readFileSync(town.botLog)}`);
    },
    log: () => readFileSync(town.botLog, "utf8"),
    /** Somebody mentions the bot; answers the place and what the deliveries met. */
    async mention(text: string) {
      const said = await town.slack.say({ user: "alice", channel: "general", text: `@agent ${text}` });
      return { ...said, place: `slack:T0TOWN:C0GENERAL:${said.ts}` };
    },
    reply: (root: string, text: string) =>
      town.slack.say({ user: "alice", channel: "general", thread: root, text }),
    async issue(title: string) {
      return (await town.github.openIssue({ user: "bob", repo, title, body: "" })).number;
    },
    comment: (issue: number, body: string) => town.github.comment({ user: "alice", repo, issue, body }),
    /** Resolves with the replies that tell of ends in the place, once there are as many as expected. */
    ends: (place: string, count = 1) =>
      eventually(`${count} ends in ${place}`, async () => {
        const told = (await posts(place)).filter(({ kind }) => kind === "reply");
        return told.length >= count ? told : null;
      }),
    /** The runs whose prompt has the word. */
    runsAbout: async (word: string) => (await town.api.runs()).filter(({ prompt }) => prompt.includes(word)),
  };
}

export type StoryTown = Awaited<ReturnType<typeof storyTown>>;
