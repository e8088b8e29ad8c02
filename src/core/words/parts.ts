/** Parts shared by several views. */
import { shorten } from "#base/shorten.ts";
import type { Run } from "#core/run.ts";
import type { Text, View } from "#core/view.ts";

/** Returns a view without buttons. */
export const plain = (tone: View["tone"], headline: Text, details: readonly Text[] = []): View => ({
  tone,
  headline,
  details,
  actions: [],
});

/** Returns the spans of a sentence in which backticks mark code. */
export const rich = (sentence: string): Text =>
  sentence.split("`").map((piece, index) => (index % 2 === 1 ? { code: piece } : piece));

/** Returns a view of one sentence, in which backticks mark code. */
export const note = (sentence: string, tone: View["tone"] = "plain"): View => plain(tone, rich(sentence));

const states: Readonly<Record<string, readonly [View["tone"], string]>> = {
  QUEUED: ["waiting", "Queued"],
  PENDING: ["waiting", "Getting ready"],
  CLAIMED: ["waiting", "Getting ready"],
  INPROGRESS: ["working", "In progress"],
  BLOCKED: ["attention", "Needs your answer"],
  SUCCEEDED: ["good", "Succeeded"],
  FAILED: ["bad", "Failed"],
  ERROR: ["bad", "Failed: the agent service had an error"],
  CANCELLED: ["plain", "Cancelled"],
};

/** Returns tone and text of a run's state. An unknown state is shown by its name. */
export const stateLine = (state: string): readonly [View["tone"], string] =>
  states[state] ?? ["plain", `State: ${state}`];

const isWebLink = (link: unknown): link is string =>
  typeof link === "string" && /^https?:\/\/[^\s<>|]+$/.test(link);

/** Returns a line that links to where a person can fix the cause; none without a web link. */
export const fixLine = (link: string | undefined): Text[] =>
  isWebLink(link) ? [[{ link, label: "Fix it here" }]] : [];

/** Returns the run's links, one a line: pull requests, other artifacts with an address, the session. */
export function links(run: Omit<Run, "prompt">): Text[] {
  const found: Text[] = [];
  for (const artifact of run.artifacts ?? []) {
    const url = artifact.data?.url;
    if (!isWebLink(url)) continue;
    const title = artifact.data?.title;
    if (artifact.artifact_type === "PULL_REQUEST")
      found.unshift([{ link: url, label: pullRequestName(url) }]);
    else found.push([{ link: url, label: shorten(typeof title === "string" && title ? title : url, 80) }]);
  }
  if (isWebLink(run.session_link)) found.push([{ link: run.session_link, label: "Session" }]);
  return found;
}

function pullRequestName(url: string): string {
  const parts = /\/([\w.-]+\/[\w.-]+)\/(?:pull|pulls|merge_requests)\/(\d+)/.exec(url);
  return parts ? `Pull request ${parts[1]}#${parts[2]}` : "Pull request";
}
