/** A run's state machine: one pure function for each event. Times in milliseconds since the epoch. */
import type { FoundFile } from "#service/files/artifact-files.ts";
import type { Run, RunArtifact, RunDocument } from "./run-document.ts";

/**
 * The outcome of a turn with the agent's text. `asked`: the agent needs a person's answer. `failed`: the agent
 * failed. `broken`: the agent or its folder could not be made. `unprepared`: the set-up failed. `interrupted`: the
 * service stopped.
 */
export type TurnOutcome =
  | { readonly kind: "answered" | "asked" | "interrupted"; readonly text: string }
  | { readonly kind: "failed" | "broken" | "unprepared"; readonly text: string; readonly reason: string };

/** The results of a turn besides its text. */
export interface Findings {
  /** The worktree's branch; "" if it is unknown. */
  readonly branch: string;
  /** Whether a pull request at this address may be of that branch. */
  readonly isOwn: (url: string) => boolean;
  /** All artifacts of the run; null if they are unknown. */
  readonly files: readonly FoundFile[] | null;
  readonly newUid: () => string;
}

/** The preparation of the run's folder begins. null: the run is not queued. */
export const preparing = (document: RunDocument): RunDocument | null =>
  document.run.state === "QUEUED" ? inState(document, "PENDING", null) : null;

/**
 * A turn begins with the waiting messages. null: the run has none to work on. `notes` are the service's remarks to
 * the agent and to people.
 */
export function begun(document: RunDocument, now: number, notes: readonly string[] = []): RunDocument | null {
  const { run, waiting } = document;
  const next =
    run.state === "QUEUED" || run.state === "PENDING" || (run.state === "INPROGRESS" && waiting.length > 0);
  if (!next) return null;
  const turn = document.turn + 1;
  return {
    ...document,
    run: { ...run, state: "INPROGRESS", statusMessage: null, startedAt: run.startedAt ?? now },
    said: [
      ...document.said,
      ...waiting.map((message) => ({ role: "user" as const, turn, ...message })),
      ...notes.map((text) => ({ role: "system" as const, at: now, turn, text })),
    ],
    waiting: [],
    turn,
    turnBegan: now,
  };
}

/**
 * The turn is over. The run stays INPROGRESS if messages wait, because the next turn follows at once. Returns the
 * same document if the run was cancelled or is in another turn by now.
 */
export function turnEnded(
  document: RunDocument,
  turn: number,
  outcome: TurnOutcome,
  now: number,
  findings?: Findings,
): RunDocument {
  if (document.run.state !== "INPROGRESS" || document.turn !== turn) return document;
  const after = withFiles(withAnswer(document, outcome.text, now, findings), now, findings);
  switch (outcome.kind) {
    case "answered":
      return after.waiting.length > 0 ? after : inState(after, "SUCCEEDED", null);
    case "asked": {
      // The question is in the conversation, so only its absence needs a message.
      const status =
        outcome.text === "" ? { message: "The agent is waiting for a person and did not say why." } : null;
      return after.waiting.length > 0 ? after : inState(after, "BLOCKED", status);
    }
    case "failed": {
      const remarked = withRemark(after, turn, outcome.reason, now);
      return remarked.waiting.length > 0
        ? remarked
        : inState(remarked, "FAILED", { message: outcome.reason });
    }
    case "broken":
    case "unprepared":
      return inState(
        withRemark(after, turn, outcome.reason, now),
        outcome.kind === "broken" ? "ERROR" : "FAILED",
        {
          message: outcome.reason,
          error_code: "environment_setup_failed",
          retryable: false,
        },
      );
    case "interrupted":
      return interrupted(after, now);
    default:
      return outcome satisfies never;
  }
}

/** The service stopped while it worked on the run, which ends as ERROR until a follow-up continues it. */
export function interrupted(document: RunDocument, now: number): RunDocument {
  if (document.run.state === "PENDING") {
    // Begins a turn, so that the waiting messages come before the remark.
    const turn = begun(document, now) ?? document;
    return stopped(turn, "The service was stopped while the run was being prepared.", now);
  }
  const message =
    "The service was stopped while the agent was working." +
    (document.waiting.length > 0
      ? " The agent has not been given every follow-up yet; it gets them with the next one."
      : "");
  return stopped(document, message, now);
}

function stopped(document: RunDocument, message: string, now: number): RunDocument {
  const over = withRemark(turnOver(document, now), document.turn, message, now);
  return inState(over, "ERROR", { message, error_code: "resource_unavailable", retryable: true });
}

/** A follow-up waits for the next turn. `queued` returns a new place in the queue for a run that has ended. */
export function followedUp(
  document: RunDocument,
  text: string,
  now: number,
  queued: () => number,
): RunDocument {
  const next = { ...document, waiting: [...document.waiting, { at: now, text }] };
  switch (document.run.state) {
    case "QUEUED":
    case "PENDING":
    case "CLAIMED":
    case "INPROGRESS":
      return next;
    case "BLOCKED":
    case "SUCCEEDED":
    case "FAILED":
    case "ERROR":
    case "CANCELLED":
      return { ...next, run: { ...next.run, state: "QUEUED", statusMessage: null, queued: queued() } };
    default:
      return document.run.state satisfies never;
  }
}

/** The outcome of a cancellation; the other kinds are reasons for a refusal. */
export type Cancelling =
  | { readonly kind: "cancelled"; readonly document: RunDocument }
  | { readonly kind: "ended" | "preparing" | "blocked" };

/** Cancels the run. `text` is the agent's text in the turn under way. */
export function cancelled(document: RunDocument, text: string, now: number): Cancelling {
  switch (document.run.state) {
    case "QUEUED":
    case "CLAIMED":
      return { kind: "cancelled", document: inState(document, "CANCELLED", null) };
    case "INPROGRESS":
      return {
        kind: "cancelled",
        document: inState(
          isTurnUnderWay(document) ? withAnswer(document, text, now) : document,
          "CANCELLED",
          null,
        ),
      };
    case "PENDING":
      return { kind: "preparing" };
    case "BLOCKED":
      return { kind: "blocked" };
    case "SUCCEEDED":
    case "FAILED":
    case "ERROR":
    case "CANCELLED":
      return { kind: "ended" };
    default:
      return document.run.state satisfies never;
  }
}

/** Whether the agent works now. A run is also INPROGRESS between two turns. */
export const isTurnUnderWay = (document: RunDocument): boolean => document.turnBegan !== null;

const inState = (
  document: RunDocument,
  state: Run["state"],
  statusMessage: Run["statusMessage"],
): RunDocument => ({ ...document, run: { ...document.run, state, statusMessage } });

const withRemark = (document: RunDocument, turn: number, text: string, now: number): RunDocument => ({
  ...document,
  said: [...document.said, { role: "system", at: now, turn, text }],
});

function turnOver(document: RunDocument, now: number): RunDocument {
  if (document.turnBegan === null) return document;
  const workedMs = document.run.workedMs + Math.max(0, now - document.turnBegan);
  return { ...document, turnBegan: null, run: { ...document.run, workedMs } };
}

/** An empty answer is added too, because readers would take an earlier turn's answer for this turn's. */
function withAnswer(document: RunDocument, text: string, now: number, findings?: Findings): RunDocument {
  const over = turnOver(document, now);
  const known = new Set(over.run.artifacts.flatMap((each) => (each.kind === "pull_request" ? each.url : [])));
  const found = pullRequestsIn(text).filter((url) => !known.has(url));
  const added = found.map((url) => ({
    kind: "pull_request" as const,
    url,
    branch: findings?.isOwn(url) ? findings.branch : "",
    at: now,
  }));
  return {
    ...over,
    said: [...over.said, { role: "assistant", at: now, turn: over.turn, text }],
    run: {
      ...over.run,
      artifacts: [...over.run.artifacts, ...added.slice(0, Math.max(0, mostPullRequests - known.size))],
    },
  };
}

const mostPullRequests = 50;

/** Replaces the artifact files. A known file keeps its id. */
function withFiles(document: RunDocument, now: number, findings?: Findings): RunDocument {
  if (findings?.files == null) return document;
  const { artifacts } = document.run;
  const files = findings.files.map((file): RunArtifact => {
    const known = artifacts.find((each) => each.kind === "file" && each.path === file.path);
    const { uid, at } = known?.kind === "file" ? known : { uid: findings.newUid(), at: now };
    return { kind: "file", ...file, uid, at };
  });
  const others = artifacts.filter(({ kind }) => kind !== "file");
  return { ...document, run: { ...document.run, artifacts: [...others, ...files] } };
}

/** The distinct addresses of the form https://<host>/<owner>/<repository>/pull/<number>. */
function pullRequestsIn(text: string): readonly string[] {
  const found = text.matchAll(/https:\/\/[\w.-]+(?::\d+)?\/[\w.-]+\/[\w.-]+\/pull\/\d+(?![\w-])/g);
  return [...new Set([...found].map(([url]) => url))];
}
