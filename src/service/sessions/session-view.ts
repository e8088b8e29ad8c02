/** What the page of a run shows, as one plain value that can be sent and compared. */
import { answerOf } from "#service/agents/agent.ts";
import type { Run, RunArtifact, RunDocument } from "#service/run/run-document.ts";
import { isEnded } from "#service/store/run-wire.ts";

/** `writing` grows; `waiting` is not yet given to the agent. `at` in milliseconds since the epoch. */
export interface SessionEntry {
  readonly who: "user" | "assistant" | "system";
  readonly kind: "said" | "writing" | "waiting";
  readonly at: number | null;
  readonly text: string;
}

export interface SessionArtifact {
  readonly text: string;
  /** Opens it, http or https; null: there is nothing to open. */
  readonly url: string | null;
  /** Of a file of this service's: what it is asked for by. */
  readonly uid: string | null;
}

/** Times in milliseconds since the epoch. */
export interface SessionHead {
  readonly title: string;
  readonly state: Run["state"];
  readonly words: string;
  /** Why it is in this state; null where that goes without saying. */
  readonly message: string | null;
  readonly isEnded: boolean;
  readonly canCancel: boolean;
  readonly createdAt: number;
  /** Time spent in turns that are over. */
  readonly workedMs: number;
  /** When the turn under way began; null between turns. */
  readonly turnBegan: number | null;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly artifacts: readonly SessionArtifact[];
}

/** In its order an entry keeps its index for good: what waits is said, what is written is the answer. */
export interface SessionView {
  readonly head: SessionHead;
  readonly entries: readonly SessionEntry[];
}

/** `output`: what the agent wrote in the turn under way; null if there is none. */
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
  value === null || value === undefined || value === "" ? [] : [[name, value]];

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
  BLOCKED: "Waits for an answer",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Failed: the service had an error",
  CANCELLED: "Cancelled",
};
