/** Problems of commands: what is wrong, and what to type instead. Backticks mark code. */
import { shorten } from "#base/shorten.ts";

const codes = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(", ");

export const noPrompt = "What should the agent do? For example: `run fix the flaky test`.";
export const muteOutside = "Use this inside the thread that you want to mute: mention me there.";
export const severalCommands = "A message can hold one command. Send the other one in its own message.";
export const attachWithoutRun = "`attach` needs the id of the run to follow: `attach <run>`.";

/** `meant`: the likely command; `prompt`: the text, if it may be a prompt. */
export function unknownCommand(word: string, meant: string | undefined, prompt: string | undefined): string {
  const hint = meant === undefined ? "" : `Did you mean \`${meant}\`? `;
  const start = prompt === undefined ? "" : `To start a run: \`run ${shorten(prompt, 60)}\`. `;
  return `I don't know the command \`${shorten(word, 40)}\`. ${hint}${start}\`help\` lists all commands.`;
}

/** More than one word follows a command that takes a run id. */
export const notOneRun = (verb: string): string => `\`${verb}\` takes at most one run id: \`${verb} <run>\`.`;

/** `meant`: the likely flag. */
export function unknownFlag(name: string, meant: string | undefined, known: readonly string[]): string {
  const hint =
    meant === undefined
      ? `The flags are ${codes(known.map((flag) => `--${flag}`))}.`
      : `Did you mean \`--${meant}\`?`;
  return `I don't know the flag \`--${shorten(name, 40)}\`. ${hint}`;
}

/** A flag's value has no closing quotation mark. */
export const unclosedValue = (flag: string): string =>
  `The value of \`--${flag}\` begins with a quotation mark that is never closed.`;
/** A flag has no value. */
export const missingValue = (flag: string): string =>
  `\`--${flag}\` needs a value: \`run --${flag} <value> <prompt>\`.`;
/** A flag's value has more than `most` characters. */
export const longValue = (flag: string, most: number): string =>
  `The value of \`--${flag}\` is too long. It may have ${most} characters at most.`;
/** A flag is repeated. */
export const flagTwice = (flag: string): string => `\`--${flag}\` was given twice.`;

/** An MCP server is not in the config file, which has the `known` ones. */
export function unknownMcpServer(name: string, known: readonly string[]): string {
  const hint = known.length === 0 ? "The config file sets up none." : `These are set up: ${codes(known)}.`;
  return `I don't know the MCP server \`${shorten(name, 40)}\`. ${hint}`;
}
