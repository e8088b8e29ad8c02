import { z } from "zod";
import type { GitHubStandIn } from "#sandbox/github/stand-in.ts";
import { mayLabel } from "#sandbox/shown/github-state.ts";
import { type Act, act, failed, name, words } from "./acts.ts";

const longestBody = 65_536;

/** The acts on GitHub, by the last part of their path. They concern the first repository. */
export function gitHubActs(github: GitHubStandIn): Readonly<Record<string, Act>> {
  function repo(): string {
    const [first] = github.snapshot().repos;
    return first === undefined ? "" : `${first.owner}/${first.name}`;
  }
  function missing({ user, issue }: { user: string; issue?: number }): string | null {
    const { users, bot, issues } = github.snapshot();
    const isPerson = users.some(({ login, type }) => login === user && type === "User" && login !== bot);
    if (!isPerson) return `There is no ${user} here.`;
    if (issue === undefined) return null;
    const known = issues.some((one) => one.repo === repo() && one.number === issue);
    return known ? null : `There is no issue #${issue}.`;
  }
  const issue = z.number().int();

  const open = act(
    z.object({
      user: name,
      title: words.max(256, "A title has at most 256 characters."),
      body: z.string().max(longestBody, "That is too long."),
    }),
    missing,
    async (asked) => {
      const { number, delivery } = await github.openIssue({ ...asked, repo: repo() });
      return { ok: true, status: delivery.status ?? 0, number };
    },
  );

  const comment = act(z.object({ user: name, issue, body: words }), missing, async (asked) => {
    const { delivery } = await github.comment({ ...asked, repo: repo() });
    return { ok: true, status: delivery.status ?? 0 };
  });

  const label = act(z.object({ user: name, issue, label: name, on: z.boolean() }), missing, async (asked) => {
    const { on, ...which } = asked;
    if (!mayLabel(github.snapshot(), asked.user)) {
      return failed(`${asked.user} may only read here; changing labels requires write access.`);
    }
    const { delivery } = await (on ? github.label : github.unlabel)({ ...which, repo: repo() });
    return { ok: true, status: delivery === undefined ? null : (delivery.status ?? 0) };
  });

  return { open, comment, label };
}
