/** Everything that a run's page shows, as one plain value. */
import { answerOf } from "#service/agents/agent.ts";
import type { Run, RunArtifact, RunDocument } from "#service/run/run-document.ts";
import { isEnded } from "#service/store/run-wire.ts";
import type { SessionArtifact, SessionEntry, SessionHead } from "./session-message.ts";

/** An entry keeps its index for good: waiting messages become said ones, and writing becomes the answer. */
export interface SessionView {
  readonly head: SessionHead;
  readonly entries: readonly SessionEntry[];
}

/** `output`: the agent's output in the turn under way; null if there is none. */
export function sessionView(
  { run, said, waiting, turnBegan }: RunDocument,
  output: string | null,
): SessionView {
  const writing: SessionEntry[] =
    turnBegan === null
      ? []
      : [{ who: "assistant", kind: "writing", at: null, text: output === null ? "" : answerOf(output).text }];
  return {
    head: {
      title: run.title,
      state: run.state,
      words: stateInWords[run.state],
      message: run.statusMessage?.message ?? null,
      isEnded: isEnded(run.state),
      canCancel: cancellable.has(run.state),
      createdAt: run.createdAt,
      workedMs: run.workedMs,
      turnBegan,
      facts: factsOf(run),
      artifacts: run.artifacts.map(artifactOf),
    },
    entries: [
      ...said.map(({ role, at, text }): SessionEntry => ({ who: role, kind: "said", at, text })),
      ...writing,
      ...waiting.map(({ at, text }): SessionEntry => ({ who: "user", kind: "waiting", at, text })),
    ],
  };
}

const factsOf = (run: Run): SessionHead["facts"] => [
  ...fact("Environment", run.config.environment_id),
  ...fact("Model", run.config.model_id),
  ...fact("Skill", run.skill),
  ...fact("Factory", run.factoryUid),
  ...fact("Attached", run.attachments.map(({ name }) => name).join(", ")),
];

const fact = (name: string, value: string | null | undefined): (readonly [string, string])[] =>
  value ? [[name, value]] : [];

function artifactOf(artifact: RunArtifact): SessionArtifact {
  switch (artifact.kind) {
    case "pull_request": {
      const { url, branch } = artifact;
      const parts = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/pull\/(\d+)$/.exec(url);
      const name = parts === null ? url : `${parts[1]}#${parts[2]}`;
      return {
        text: `Pull request ${name}${branch === "" ? "" : ` (${branch})`}`,
        url: openable(url),
        uid: null,
      };
    }
    case "file":
      return { text: `${artifact.name} (${sizeOf(artifact.bytes)})`, url: null, uid: artifact.uid };
    default:
      return artifact satisfies never;
  }
}

const openable = (url: string): string | null =>
  /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null;

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const cancellable: ReadonlySet<Run["state"]> = new Set(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"]);

const stateInWords: Readonly<Record<Run["state"], string>> = {
  QUEUED: "Queued",
  PENDING: "Being prepared",
  CLAIMED: "Taken by a worker",
  INPROGRESS: "In progress",
  BLOCKED: "Waiting for an answer",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Failed: the service had an error",
  CANCELLED: "Cancelled",
};
