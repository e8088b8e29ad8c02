/** The pieces that several views are made of. */
import { shorten } from "#base/shorten.ts";
import type { Run } from "#core/run.ts";
import type { Text, View } from "#core/view.ts";

/** A view without buttons. */
export const plain = (tone: View["tone"], headline: Text, details: readonly Text[] = []): View => ({
  tone,
  headline,
  details,
  actions: [],
});

/** The text of a sentence of ours; backticks mark code. */
export const rich = (sentence: string): Text =>
  sentence.split("`").map((piece, index) => (index % 2 === 1 ? { code: piece } : piece));

/** A view of one sentence of ours; backticks mark code. */
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

/** Tone and words of a run's state. A state that is unknown to us is shown under its own name. */
export const stateLine = (state: string): readonly [View["tone"], string] =>
  states[state] ?? ["plain", `State: ${state}`];

const isWebLink = (link: unknown): link is string =>
  typeof link === "string" && /^https?:\/\/[^\s<>|]+$/.test(link);

/** A line with the link under which a person can fix the cause; no line if there is no web link. */
export const fixLine = (link: string | undefined): Text[] =>
  isWebLink(link) ? [[{ link, label: "Fix it here" }]] : [];

/** The run's links, one a line: pull requests, other artifacts with an address, the session. */
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
