/** A town for a single story. */
import { readFileSync } from "node:fs";
import type { TestContext } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { lookAtPlatforms, type Post } from "./outside.ts";
import { createTown, repo, type TownOptions } from "./town.ts";

/** Starts a town and its service; both are closed when the test ends. */
export async function storyTown({ onTestFinished }: TestContext, options: TownOptions = {}) {
  const town = await createTown(options);
  onTestFinished(() => town.close());
  await town.startService();

  const posts = (place: string): readonly Post[] =>
    lookAtPlatforms(town).posts.filter((post) => post.place === place);

  return {
    ...town,
    posts,
    start: async (limits?: readonly string[]): Promise<void> => {
      if (!(await town.startBot(limits).up))
        throw new Error(`the bot did not start: ${readFileSync(town.botLog)}`);
    },
    log: () => readFileSync(town.botLog, "utf8"),
    /** Mentions the bot in Slack; returns the place and the statuses of the deliveries. */
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
    /** Waits for `count` results in the place and returns their posts. */
    ends: (place: string, count = 1) =>
      eventually(`${count} ends in ${place}`, () => {
        const told = posts(place).filter(({ kind }) => kind === "reply");
        return told.length >= count ? told : null;
      }),
    /** The runs whose prompt has the word. */
    runsAbout: async (word: string) => (await town.api.runs()).filter(({ prompt }) => prompt.includes(word)),
  };
}

export type StoryTown = Awaited<ReturnType<typeof storyTown>>;
