/** Runs as the API's contract shows them. */
import {
  type Artifact,
  type Conversation,
  endedStates,
  type Message,
  type RunItem,
} from "#agent-runs/schema.ts";
import {
  artifactTypes,
  creatorUid,
  type Run,
  type RunArtifact,
  type RunDocument,
  sourceOfAll,
  type Utterance,
} from "#service/run/run-document.ts";
import { isTurnUnderWay } from "#service/run/run-life.ts";

/** The wire format of times. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString();

/** Whether a run in this state has ended; a follow-up may still continue it. */
export const isEnded = (state: Run["state"]): boolean => endedStates.some((ended) => ended === state);

const principal = { type: "service_account", uid: creatorUid, display_name: "API key" };

/** The run as a `RunItem`. `sessionLink` is the address of its page. */
export function runItemOf(run: Run, sessionLink: string): RunItem {
  return {
    run_id: run.id,
    task_id: run.id,
    title: run.title,
    prompt: run.prompt,
    state: run.state,
    created_at: rfc3339(run.createdAt),
    updated_at: rfc3339(run.updatedAt),
    ...(run.startedAt === null ? {} : { started_at: rfc3339(run.startedAt) }),
    session_id: run.id,
    session_link: sessionLink,
    conversation_id: run.conversationId,
    agent_config: run.config,
    creator: principal,
    executor: principal,
    source: sourceOfAll,
    metadata: run.metadata,
    ...(run.statusMessage === null ? {} : { status_message: run.statusMessage }),
    artifacts: run.artifacts.map((artifact) => artifactOf(artifact, run.id)),
    ...(isEnded(run.state) && run.startedAt !== null ? { run_time: duration(run.workedMs) } : {}),
    execution_location: "LOCAL",
    is_run_type_cancellable: true,
    ...(run.parentRunId === null ? {} : { parent_run_id: run.parentRunId }),
  };
}

function artifactOf(artifact: RunArtifact, runId: string): Artifact {
  const created_at = rfc3339(artifact.at);
  const artifact_type = artifactTypes[artifact.kind];
  switch (artifact.kind) {
    case "pull_request": {
      const { url, branch } = artifact;
      return { artifact_type, created_at, data: { url, branch } };
    }
    case "file":
      return {
        artifact_type,
        created_at,
        data: { artifact_uid: artifact.uid, mime_type: artifact.mime, ...fileOf(artifact, runId) },
      };
    default:
      return artifact satisfies never;
  }
}

type FileArtifact = RunArtifact & { readonly kind: "file" };

/** The file's names and size. Its path is relative to the run's folder of artifacts, which is named after the run. */
function fileOf({ name, path, bytes }: FileArtifact, runId: string) {
  const parts = path.split(/[\\/]/);
  const at = parts.indexOf(runId);
  return { filename: name, filepath: at < 0 ? name : parts.slice(at + 1).join("/"), size_bytes: bytes };
}

/** The answer about one file of the run. `link`: an address to download it from, and until when that holds. */
export function artifactAnswerOf(
  artifact: FileArtifact,
  runId: string,
  link: { readonly url: string; readonly until: number },
) {
  return {
    artifact_type: artifactTypes[artifact.kind],
    artifact_uid: artifact.uid,
    created_at: rfc3339(artifact.at),
    data: {
      content_type: artifact.mime,
      download_url: link.url,
      expires_at: rfc3339(link.until),
      ...fileOf(artifact, runId),
    },
  };
}

/** The ISO 8601 form of a duration, to the millisecond. */
function duration(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  return `PT${hours > 0 ? `${hours}H` : ""}${minutes > 0 ? `${minutes}M` : ""}${seconds}S`;
}

/**
 * The transcript, one step a turn. `live` is the agent's text so far in the turn under way. Messages that wait for
 * the agent come last, so that a client can check whether its follow-up arrived.
 */
export function conversationOf(document: RunDocument, live: string | null): Conversation {
  const steps = new Map<number, Message[]>();
  const add = (turn: number, message: Message): void => {
    steps.set(turn, [...(steps.get(turn) ?? []), message]);
  };
  for (const words of document.said) add(words.turn, messageOf(words));
  if (live !== null && isTurnUnderWay(document))
    add(document.turn, { role: "assistant", content: textBlocks(live) });
  for (const words of document.waiting) {
    add(document.turn + 1, messageOf({ role: "user", turn: document.turn + 1, ...words }));
  }
  return {
    conversation_id: document.run.conversationId,
    steps: [...steps].map(([turn, messages]) => ({ id: `turn-${turn}`, messages, steps: [] })),
  };
}

/** Whether the run has no message yet, as before the first turn of a run of a skill without a prompt. */
export const isSilent = ({ said, waiting }: RunDocument, live: string | null): boolean =>
  said.length === 0 && live === null && waiting.every(({ text }) => text === "");

const textBlocks = (text: string): Message["content"] => (text === "" ? [] : [{ type: "text", text }]);

const messageOf = (words: Utterance): Message => ({
  role: words.role,
  timestamp: rfc3339(words.at),
  content: textBlocks(words.text),
});
