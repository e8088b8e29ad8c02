/** Reads the flags of programs that people start by hand. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/** The flags' values. An unknown flag or a missing value ends the process with an explanation and `usage`. */
export function flagsOf<const T extends NonNullable<ParseArgsConfig["options"]>>(options: T, usage: string) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

/** The flag's value as a number. Anything but a whole number of at least `least` ends the process. */
export function wholeNumber(flag: string, text: string, least: number, usage: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
  return refuse(`--${flag} must be a whole number, ${least} or more; it is ${JSON.stringify(text)}.`, usage);
}

function refuse(sentence: string, usage: string): never {
  process.stderr.write(`${sentence}\nUsage: ${usage}\n`);
  process.exit(1);
}
