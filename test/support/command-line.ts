/** The flags of the programs that are started by hand. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/** The flags' values; one that is not known, or lacks its value, ends the process with a sentence and `usage`. */
export function flagsOf<const T extends NonNullable<ParseArgsConfig["options"]>>(options: T, usage: string) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

/** The number that the flag is given; ends the process if it is no whole number of that size. */
export function wholeNumber(flag: string, text: string, least: number, usage: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
  return refuse(`--${flag} must be a whole number, ${least} or more; it is ${JSON.stringify(text)}.`, usage);
}

function refuse(sentence: string, usage: string): never {
  process.stderr.write(`${sentence}\nUsage: ${usage}\n`);
  process.exit(1);
}
