import type { RunDocument, Utterance } from "./run-document.ts";

/** Most characters of earlier turns that are given again; what is older is left out. */
const mostHistory = 200_000;

/** What the agent reads in the turn that just began. */
export function turnInput(document: RunDocument): { readonly input: string; readonly words: string[] } {
  const { run, said, turn } = document;
  const words = said.filter((entry) => entry.turn === turn && entry.role === "user").map(({ text }) => text);
  const earlier = said.filter((entry) => entry.turn < turn);
  const parts = [
    run.config.base_prompt ?? "",
    run.skill === null ? "" : `Use the skill ${run.skill}.`,
    ...(earlier.length === 0
      ? []
      : ["The conversation so far:", history(earlier), "It goes on with this message:"]),
    ...words,
  ];
  const input = parts.filter((part) => part.trim() !== "").join("\n\n");
  return { input: `${input}\n`, words };
}

function history(earlier: readonly Utterance[]): string {
  const blocks: string[] = [];
  let room = mostHistory;
  for (const { role, text } of [...earlier].reverse()) {
    const block = `<${role}>\n${text}\n</${role}>`;
    room -= block.length;
    if (room < 0) {
      blocks.unshift("(What came before is left out.)");
      break;
    }
    blocks.unshift(block);
  }
  return blocks.join("\n\n");
}
