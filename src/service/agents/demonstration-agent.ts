import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, blockedLine, type Turn } from "./agent.ts";

/**
 * The agent of a service without a command: it changes nothing and says so. A request with the words "ask me" ends BLOCKED
 * with a question, one with "fail on purpose" ends FAILED. `stepMs` is the time in the queue and of each step.
 */
export function createDemonstrationAgent(stepMs: number): Agent {
  return {
    prepare: (signal) => pause(stepMs, signal),
    async work(turn, signal, write) {
      const request = turn.words.map(firstParagraph).filter((words) => words !== "");
      const { steps, fails } = performance(turn, request.join(" "));
      for (const step of steps) {
        await pause(stepMs, signal);
        if (signal.aborted) return { kind: "aborted" };
        write(step);
      }
      await pause(stepMs, signal);
      if (signal.aborted) return { kind: "aborted" };
      if (fails) return { kind: "failed", reason: "The demonstration agent failed on purpose, as asked." };
      return { kind: "finished" };
    },
  };
}

/** Resolves after the time or when aborted; never rejects. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

function performance(
  turn: Turn,
  request: string,
): { readonly steps: readonly string[]; readonly fails: boolean } {
  const shown = request === "" ? "nothing" : `“${shortened(request)}”`;
  const continues = turn.number > 1;
  const greeting = continues
    ? `Demonstration agent here again. You added: ${shown}.\n\n`
    : `Demonstration agent here: I only show how a run works and change nothing.\n\nYou asked for: ${shown}.\n\n`;
  const setUp =
    "For a real agent, set AGENT_COMMAND to claude, codex, gemini, opencode or oz, or to a command that reads " +
    "the prompt on stdin and prints its answer.\n";
  if (/\bask me\b/i.test(request)) {
    const question = "Before I continue: which option would you like? Reply here to answer.\n";
    return { steps: [greeting, question, blockedLine], fails: false };
  }
  if (/\bfail on purpose\b/i.test(request)) {
    return { steps: [greeting, "I start, and then I fail:\n"], fails: true };
  }
  const would = continues
    ? `A real agent would now continue the conversation with ${shown}.\n\n`
    : "A real agent would now read the code, make the change, run the tests and open a pull request.\n\n";
  return { steps: [greeting, would, setUp], fails: false };
}

/** The request in a message: the text before its first empty line, without quoted and reference lines. */
function firstParagraph(text: string): string {
  const lines: string[] = [];
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" && lines.length > 0) break;
    if (line === "" || line.startsWith(">") || /^reference:/i.test(line)) continue;
    lines.push(line);
  }
  return lines.join(" ");
}

const mostShown = 300;

function shortened(text: string): string {
  const letters = [...text];
  return letters.length > mostShown ? `${letters.slice(0, mostShown).join("")}…` : text;
}
