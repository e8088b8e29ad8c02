import type { CreateRequest } from "#agent-runs/schema.ts";
import type { KeptAttachment, RunDocument, Utterance } from "./run-document.ts";

/** What a new run can't take from the request. `earlier` is the conversation that it continues. */
export interface Birth {
  readonly id: string;
  readonly order: number;
  readonly now: number;
  readonly sessionKey: string;
  readonly earlier: readonly Utterance[];
  readonly factoryUid?: string | null;
  /** What `createAttachments().keep` answered. */
  readonly attachments?: readonly KeptAttachment[];
}

/** The document of a run that was just asked for: QUEUED, its prompt waiting to be given to the agent. */
export function newRun(request: CreateRequest, birth: Birth): RunDocument {
  const prompt = request.prompt ?? "";
  const skill = request.skill ?? request.config?.skill_spec ?? null;
  const config = { ...request.config };
  if (skill !== null) config.skill_spec = skill;
  // A run that is started from a skill is grouped under the skill's name (specification, `name`).
  if (skill !== null && !config.name) config.name = skillName(skill);
  const turn = birth.earlier.at(-1)?.turn ?? 0;
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
      parentRunId: request.parent_run_id ?? null,
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
    turn,
    turnBegan: null,
  };
}

/** The name in `owner/repo:skill-name`; in `owner/repo:path/to/SKILL.md` that of the folder. */
function skillName(skill: string): string {
  const path = skill.slice(skill.indexOf(":") + 1).split("/");
  const last = path.at(-1) ?? skill;
  return last.toLowerCase() === "skill.md" ? (path.at(-2) ?? last) : last;
}

const mostTitle = 80;

function titleOf(prompt: string): string {
  const line = prompt.trimStart().split("\n", 1)[0]?.trimEnd() ?? "";
  // No letter has more than two units.
  const letters = [...line.slice(0, 2 * mostTitle + 2)];
  return letters.length > mostTitle ? `${letters.slice(0, mostTitle - 1).join("")}…` : line;
}
