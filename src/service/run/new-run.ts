import type { CreateRequest } from "#agent-runs/schema.ts";
import type { KeptAttachment, RunDocument, Utterance } from "./run-document.ts";
import { skillName } from "./skill-spec.ts";

/** Everything about a new run that its request does not say. */
export interface Birth {
  readonly id: string;
  /** The next place in the order of creation and in the queue. */
  readonly order: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly sessionKey: string;
  /** The conversation that the run continues. */
  readonly earlier: readonly Utterance[];
  readonly factoryUid?: string | null;
  readonly attachments?: readonly KeptAttachment[];
}

/** The skill that a request names; null if it names none. An empty name counts as none. */
export const skillOf = ({ skill, config }: CreateRequest): string | null =>
  skill || config?.skill_spec || null;

/** The document of a new run: QUEUED, with its prompt waiting for the agent. */
export function newRun(request: CreateRequest, birth: Birth): RunDocument {
  const prompt = request.prompt ?? "";
  const skill = skillOf(request);
  const config = { ...request.config };
  if (skill !== null) {
    config.skill_spec = skill;
    // A run that is started from a skill is grouped under the skill's name (specification, `name`).
    config.name ||= skillName(skill).name;
  }
  return {
    version: 2,
    run: {
      id: birth.id,
      order: birth.order,
      queued: birth.order,
      title: request.title?.trim() || titleOf(prompt) || config.name || "Untitled",
      prompt,
      state: "QUEUED",
      createdAt: birth.now,
      updatedAt: birth.now,
      startedAt: null,
      config,
      skill,
      metadata: request.metadata ?? {},
      parentRunId: request.parent_run_id || null,
      conversationId: request.conversation_id ?? birth.id,
      statusMessage: null,
      artifacts: [],
      factoryUid: birth.factoryUid ?? null,
      attachments: [...(birth.attachments ?? [])],
      workedMs: 0,
      sessionKey: birth.sessionKey,
    },
    said: [...birth.earlier],
    waiting: [{ at: birth.now, text: prompt }],
    turn: birth.earlier.at(-1)?.turn ?? 0,
    turnBegan: null,
  };
}

const mostTitle = 80;

/** The prompt's first line, shortened. */
function titleOf(prompt: string): string {
  const line = prompt.trimStart().split("\n", 1)[0]?.trimEnd() ?? "";
  // A code point has at most two UTF-16 units.
  const letters = [...line.slice(0, 2 * mostTitle + 2)];
  return letters.length > mostTitle ? `${letters.slice(0, mostTitle - 1).join("")}…` : line;
}
