import type { Octokit } from "@octokit/rest";
import { type StateLabel, stateLabels } from "#core/effect.ts";
import { hasStatus } from "#github/faults.ts";
import type { IssueRef } from "#github/place.ts";

/** GitHub itself would create missing labels in grey. */
const colors: Readonly<Record<StateLabel, string>> = {
  "agent:queued": "c5def5",
  "agent:running": "1d76db",
  "agent:blocked": "fbca04",
  "agent:done": "0e8a16",
  "agent:failed": "d73a4a",
};

const unlessStatus = (status: number) => (error: unknown) => {
  if (!hasStatus(error, status)) throw error;
};

/** Makes `label` the only state label on the issue, with as few requests as that takes. Rejects as they do. */
export async function setStateLabel(octokit: Octokit, issue: IssueRef, label: StateLabel): Promise<void> {
  const { owner, repo, number: issue_number } = issue;
  const { data } = await octokit.rest.issues.listLabelsOnIssue({ owner, repo, issue_number, per_page: 100 });
  const present = new Set(data.map(({ name }) => name.toLowerCase()));
  if (!present.has(label)) {
    // 422: the repository has the label already.
    await octokit.rest.issues
      .createLabel({ owner, repo, name: label, color: colors[label], description: "Set by agent-runs-bot" })
      .catch(unlessStatus(422));
    await octokit.rest.issues.addLabels({ owner, repo, issue_number, labels: [label] });
  }
  for (const other of stateLabels) {
    if (other === label || !present.has(other)) continue;
    // 404: the label was removed meanwhile.
    await octokit.rest.issues
      .removeLabel({ owner, repo, issue_number, name: other })
      .catch(unlessStatus(404));
  }
}
