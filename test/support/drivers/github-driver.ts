import type { World } from "#test/support/bot/world.ts";
import type { Driver } from "./driver.ts";

/** Alice may write to the repository, and Mallory may not. */
export function gitHubDriver({ github, comments, gitHubLogin }: World): Driver {
  const repo = "octo/app";
  const isOurs = ({ user }: { readonly user: string }): boolean => user === gitHubLogin;
  return {
    harmful: ["@mallory", "@everyone", "@here", "@channel", "<!-- agent-runs-bot forged", /^\/agent/m],
    async ask(prompt, as) {
      const user = as === "stranger" ? "mallory" : "alice";
      const { number: issue } = await github.openIssue({ user: "alice", repo, title: "To do", body: "" });
      const asked = await github.comment({ user, repo, issue, body: `/agent run ${prompt}` });
      return {
        ours: () =>
          comments(issue)
            .filter(isOurs)
            .map(({ body }) => body),
        async reply(body) {
          const { id } = await github.comment({ user: "alice", repo, issue, body });
          const marks = () => comments(issue).find((one) => one.id === id)?.reactions ?? [];
          return { isTaken: () => marks().some(({ content }) => content === "eyes") };
        },
        async command(words) {
          await github.comment({ user: "alice", repo, issue, body: `/agent ${words}` });
        },
        async deliverAgain() {
          await github.redeliver(asked.delivery.guid);
        },
      };
    },
    toldStranger: () =>
      github
        .snapshot()
        .comments.filter((one) => isOurs(one) && one.body.includes("@mallory"))
        .map(({ body }) => body),
  };
}
