import { join } from "node:path";
import type { SkillText } from "#service/files/skill-text.ts";
import type { KeptAttachment, RunDocument, Utterance } from "#service/run/run-document.ts";

/** The most characters of earlier turns that the agent reads again. Older text is left out. */
const mostHistory = 200_000;

/** The parts of the input that are not in the run's document. */
export interface InputParts {
  /** Comes before everything else. */
  readonly basePrompt: string;
  /** The text of the run's skill; null: the agent gets its name only. */
  readonly skill: SkillText | null;
  /** The folder of the request's files; null: they are no longer kept. */
  readonly attachmentsFolder: string | null;
}

/** The agent's input for the turn that just began, and the new messages alone. */
export function turnInput(
  document: RunDocument,
  { basePrompt, skill, attachmentsFolder }: InputParts,
): { readonly input: string; readonly words: string[] } {
  const { run, said, turn } = document;
  const now = said.filter((entry) => entry.turn === turn);
  const words = now.filter(({ role }) => role === "user").map(({ text }) => text);
  const notes = now.filter(({ role }) => role === "system").map(({ text }) => `Note: ${text}`);
  const earlier = said.filter((entry) => entry.turn < turn);
  const parts = [
    basePrompt,
    run.skill === null ? "" : skillPart(run.skill, skill),
    ...(earlier.length === 0 ? [] : ["The conversation so far:", history(earlier), "The new message:"]),
    ...words,
    ...notes,
    run.attachments.length === 0 ? "" : filesPart(run.attachments, attachmentsFolder),
  ];
  const input = parts.filter((part) => part.trim() !== "").join("\n\n");
  return { input: `${input}\n`, words };
}

function filesPart(attachments: readonly KeptAttachment[], folder: string | null): string {
  const files = attachments.map(
    ({ name, mime }) => `- ${folder === null ? name : join(folder, name)} (${mime})`,
  );
  const heading =
    folder === null ? "Files of the request, which are no longer kept:" : "Files of the request:";
  return [heading, ...files].join("\n");
}

function skillPart(name: string, skill: SkillText | null): string {
  if (skill === null) return `Use the skill ${name}.`;
  const heading = `Use the skill ${name}, which is this text. Its files are in ${skill.folder}.`;
  return `${heading}\n\n<skill>\n${skill.text.trim()}\n</skill>`;
}

function history(earlier: readonly Utterance[]): string {
  const blocks: string[] = [];
  let room = mostHistory;
  for (const { role, text } of [...earlier].reverse()) {
    const isWhole = text.length <= room;
    // The end of a long answer has its result.
    const kept = isWhole ? text : `(The beginning is left out.)\n${text.slice(-room).toWellFormed()}`;
    blocks.unshift(`<${role}>\n${kept}\n</${role}>`);
    room -= text.length;
    if (room <= 0) {
      if (blocks.length < earlier.length) blocks.unshift("(Earlier messages are left out.)");
      break;
    }
  }
  return blocks.join("\n\n");
}
