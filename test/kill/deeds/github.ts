/** People's actions on GitHub, which delivers each event once, whether or not that succeeds. */

import type { Screen } from "#test/kill/look.ts";
import { repo, type Town } from "#test/kill/town.ts";
import type { Random } from "#test/simulation/story/random.ts";
import type { Deed, Deeds, Doing } from "./deeds.ts";

const people = ["alice", "bob"] as const;
export const placeOf = (issue: number): string => `github:${repo}#${issue}`;

type Act = () => Promise<unknown>;

export function createGitHubDeeds(town: Town, random: Random, deeds: Deeds, look: () => Screen) {
  const { github } = town;
  const sent: { readonly deed: Deed; readonly guid: string }[] = [];
  const somebody = (): string => random.pick(people);
  const begin = (by: string, kind: string, intent: Doing["intent"], target: string | null = null): Deed =>
    deeds.begin({ platform: "github", by, kind, intent, target });
  const issueWithCard = (): number | null => {
    const { issues } = look();
    return issues.length === 0 ? null : random.pick(issues.slice(-25));
  };

  async function fresh(deed: Deed): Promise<number> {
    const title = deeds.words(deed);
    return (await github.openIssue({ user: "bob", repo, title, body: `About ${deed.word}.` })).number;
  }

  function met(deed: Deed, delivery: { readonly guid: string; readonly status: number | null }): void {
    sent.push({ deed, guid: delivery.guid });
    deeds.met(deed, [delivery.status ?? 0]);
  }

  async function comment(deed: Deed, issue: number, body: string): Promise<void> {
    const { id, delivery } = await github.comment({ user: deed.by, repo, issue, body });
    deed.event = `github:comment:${id}`;
    deed.place = placeOf(issue);
    met(deed, delivery);
  }

  async function labelled(by: string, intent: Doing["intent"]): Promise<void> {
    const deed = begin(by, by === "mallory" ? "stranger's label" : "label", intent);
    const issue = await fresh(deed);
    deed.place = placeOf(issue);
    const { delivery } = await github.label({ user: by, repo, issue, label: "agent" });
    if (delivery === undefined) return;
    deed.event = `github:delivery:${delivery.guid}`;
    met(deed, delivery);
  }

  const command: Act = async () => {
    const deed = begin(somebody(), "command run", "run");
    const issue = random.chance(0.3) ? issueWithCard() : null;
    return comment(deed, issue ?? (await fresh(deed)), `/agent run ${deeds.words(deed)}`);
  };

  const followUp = (kind: string, before: string): Promise<unknown> => {
    const issue = issueWithCard();
    if (issue === null) return command();
    const deed = begin(somebody(), kind, "follow-up", placeOf(issue));
    return comment(deed, issue, `${before}${deeds.words(deed)}`);
  };

  const acts = {
    label: () => labelled(somebody(), "run"),
    command,
    comment: () => followUp("comment", ""),
    mention: () => followUp("mention", "@agent-runs-bot "),
    control() {
      const issue = issueWithCard();
      if (issue === null) return command();
      const word = random.pick(["cancel", "cancel", "retry", "status", "list"] as const);
      const intent = word === "cancel" || word === "retry" ? word : "answer";
      const deed = begin(somebody(), `command ${word}`, intent, placeOf(issue));
      return comment(deed, issue, `/agent ${word}`);
    },
    async mistyped() {
      const deed = begin(somebody(), "command mistyped", "answer");
      return comment(deed, issueWithCard() ?? (await fresh(deed)), `/agent ${deed.word} fix it`);
    },
    async stranger() {
      const issue = issueWithCard();
      if (issue === null || random.chance(0.3)) return labelled("mallory", "nothing");
      const deed = begin("mallory", "stranger comments", "nothing");
      const words = deeds.words(deed);
      return comment(deed, issue, random.chance(0.5) ? words : `/agent run ${words}`);
    },
    async redeliver() {
      if (sent.length === 0) return command();
      const { deed, guid } = random.pick(sent.slice(-60));
      const { status } = await github.redeliver(guid);
      deeds.met(deed, [status ?? 0]);
    },
  } satisfies Record<string, Act>;

  const weights: Readonly<Record<keyof typeof acts, number>> = {
    label: 10,
    command: 8,
    comment: 12,
    mention: 4,
    control: 6,
    mistyped: 3,
    stranger: 5,
    redeliver: 6,
  };
  return {
    /** Performs a random action. */
    act: async (): Promise<void> => void (await acts[random.weighted(weights)]()),
    /** Answers on an issue. */
    reply(issue: number): Promise<void> {
      const deed = begin(somebody(), "answer to a question", "follow-up", placeOf(issue));
      return comment(deed, issue, `look into ${deed.word}, do:quick`);
    },
  };
}

export type GitHubDeeds = ReturnType<typeof createGitHubDeeds>;
