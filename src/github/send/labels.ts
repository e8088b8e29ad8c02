import type { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import { type StateLabel, stateLabels } from "#core/effect.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Place } from "#core/place.ts";
import { hasStatus } from "#github/faults.ts";
import { formerPlaceOf, type IssueRef, type Repo } from "#github/place.ts";
import { newestFirst, secondOf } from "#github/read/newest-first.ts";
import { issueEvent } from "#github/understand/payload.ts";

/** GitHub itself would create missing labels in grey. */
const colors: Readonly<Record<StateLabel, string>> = {
  "agent:queued": "c5def5",
  "agent:running": "1d76db",
  "agent:blocked": "fbca04",
  "agent:done": "0e8a16",
  "agent:failed": "d73a4a",
};

const remembered = 10_000;

/** GitHub dates what a replacement of labels does within this time after the list before it. */
const rewriteMs = 20_000;

const unlessStatus = (status: number) => (error: unknown) => {
  if (!hasStatus(error, status)) throw error;
};

const isState = (name: string): boolean => stateLabels.some((label) => label === name.toLowerCase());

const labelKey = (issue: Place, label: string): string => `${issue} ${label.toLowerCase()}`;

/** Creates the writer of state labels. */
export function createStateLabels() {
  /** When the bot wrote other labels with its own, by GitHub's clock: it may have added one again. */
  const rewrites = new LRUCache<string, { readonly fromMs: number; readonly login: string }>({
    max: remembered,
  });
  /** Since when a replacement of an issue's labels may have removed people's, by GitHub's clock. */
  const replacedMs = new LRUCache<string, number>({ max: remembered });
  /** Labels that their repositories have. */
  const made = new LRUCache<string, true>({ max: remembered });

  async function make(octokit: Octokit, { owner, repo }: Repo, name: StateLabel): Promise<void> {
    const key = `${owner}/${repo} ${name}`.toLowerCase();
    if (made.has(key)) return;
    try {
      await octokit.rest.issues.getLabel({ owner, repo, name });
    } catch (error) {
      unlessStatus(404)(error);
      // 422: somebody has made it meanwhile.
      await octokit.rest.issues
        .createLabel({ owner, repo, name, color: colors[name], description: "Set by agent-runs-bot" })
        .catch(unlessStatus(422));
    }
    made.set(key, true);
  }

  /** Makes the label the only state label of the issue. `login`: the bot's own. Rejects as requests do. */
  async function set(octokit: Octokit, issue: IssueRef, label: StateLabel, login: string): Promise<void> {
    const { owner, repo, number: issue_number } = issue;
    const where = { owner, repo, issue_number };
    await make(octokit, issue, label);
    const at = formerPlaceOf(`${owner}/${repo}`, issue_number);
    await restore(octokit, issue, at, login);
    const { data, headers } = await octokit.rest.issues.listLabelsOnIssue({ ...where, per_page: 100 });
    const present = data.map(({ name }) => name);
    const others = present.filter((name) => !isState(name));
    const states = present.filter(isState).map((name) => name.toLowerCase());
    if (states.length === 1 && states[0] === label) return;
    if (states.length === 0) {
      await octokit.rest.issues.addLabels({ ...where, labels: [label] });
      return;
    }
    const sinceMs = Date.parse(headers.date ?? "");
    for (const name of others) rewrites.set(labelKey(at, name), { fromMs: sinceMs, login });
    if (!Number.isNaN(sinceMs)) replacedMs.set(at, sinceMs);
    await octokit.rest.issues.setLabels({ ...where, labels: [...others, label] });
    await restore(octokit, issue, at, login);
  }

  /** Restores what the last replacement removed, even if its outcome is unknown. Rejects as requests do. */
  async function restore(octokit: Octokit, issue: IssueRef, at: Place, login: string): Promise<void> {
    const sinceMs = replacedMs.get(at);
    if (sinceMs !== undefined) await restoreLost(octokit, issue, sinceMs, login);
    replacedMs.delete(at);
  }

  /** Whether the bot itself added the label, which somebody removed just before it replaced all labels. */
  function isOwn(event: PlatformEvent): boolean {
    if (event.kind !== "label") return false;
    const afterMs = (issue: Place): number => {
      const rewrite = rewrites.get(labelKey(issue, event.label));
      const isOurs = rewrite !== undefined && rewrite.login.toLowerCase() === event.by.id.toLowerCase();
      return isOurs ? Date.parse(event.at) - rewrite.fromMs : -1;
    };
    return [event.place, ...(event.formerPlaces ?? [])].map(afterMs).some((ms) => ms >= 0 && ms <= rewriteMs);
  }

  return { set, isOwn };
}

/**
 * Adds again the labels that people added while the bot replaced all, which it did since `sinceMs` by GitHub's clock.
 */
async function restoreLost(
  octokit: Octokit,
  { owner, repo, number }: IssueRef,
  sinceMs: number,
  login: string,
): Promise<void> {
  const pages = octokit.paginate.iterator(octokit.rest.issues.listEventsForRepo, {
    owner,
    repo,
    per_page: 100,
  });
  const recent = await newestFirst(
    pages,
    issueEvent,
    ({ created_at }) => Date.parse(created_at),
    secondOf(sinceMs),
  );
  const lost = recent.items.flatMap(({ event, actor, label, issue }) => {
    const isOurs = event === "unlabeled" && actor?.login.toLowerCase() === login.toLowerCase();
    return isOurs && issue?.number === number && label && !isState(label.name) ? [label.name] : [];
  });
  if (lost.length === 0) return;
  await octokit.rest.issues.addLabels({ owner, repo, issue_number: number, labels: [...new Set(lost)] });
}
