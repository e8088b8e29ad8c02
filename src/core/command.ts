/** Parses the text after `/agent` or a mention. */
import { closest } from "#base/closest.ts";
import * as problems from "#core/words/problems.ts";

export interface RunFlags {
  readonly model?: string;
  readonly env?: string;
  readonly name?: string;
  readonly title?: string;
  readonly skill?: string;
  readonly factory?: string;
  readonly mcp?: readonly string[];
}

export type Command =
  | { readonly kind: "run"; readonly prompt: string; readonly flags: RunFlags }
  | { readonly kind: "status"; readonly run: string | null }
  | { readonly kind: "list" }
  | { readonly kind: "cancel"; readonly run: string | null }
  | { readonly kind: "retry"; readonly run: string | null }
  | { readonly kind: "attach"; readonly run: string }
  | { readonly kind: "mute" }
  | { readonly kind: "unmute" }
  | { readonly kind: "help" };

/** `problem` is a sentence for the person who typed the command. */
export type ParsedCommand =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly problem: string };

const flagNames = ["model", "env", "name", "title", "skill", "factory", "mcp"] as const;
type FlagName = (typeof flagNames)[number];
const verbs = ["run", "status", "list", "cancel", "retry", "attach", "mute", "unmute", "help"] as const;
type Verb = (typeof verbs)[number];

const isVerb = (word: string): word is Verb => verbs.some((verb) => verb === word);
const isFlag = (word: string): word is FlagName => flagNames.some((flag) => flag === word);
const problem = (text: string): ParsedCommand => ({ ok: false, problem: text });

/** In characters; a longer value is a mistake. */
const longestValue = 200;

/**
 * Parses text whose first word must be a command. Empty text is `help`. Only `run` reads past the first line:
 * the lines below another command may be unrelated, such as the quotation in an e-mail.
 */
export function parseCommand(text: string): ParsedCommand {
  const { word, rest } = firstWord(text.trim());
  const [line = "", ...below] = text.trim().split("\n");
  const { rest: onLine } = firstWord(line.trim());
  const verb = verbIn(word, onLine);
  if (verb === "" || verb === "--help" || verb === "-h") return { ok: true, command: { kind: "help" } };
  if (!isVerb(verb)) {
    const meant = closest(verb, verbs);
    // Several words may be a prompt: `test the login page` is no misspelled `list`.
    const prompt = meant !== undefined && rest === "" ? undefined : text;
    return problem(problems.unknownCommand(word, meant, prompt));
  }
  if (verb === "run") return parseRun(rest);
  if (below.some((other) => /^\s*\/agent(?!\S)/i.test(other))) return problem(problems.severalCommands);
  return parseVerb(verb, onLine);
}

/** Lowercases the word. Alone on its line, it may end with punctuation: `status?` */
const verbIn = (word: string, rest: string): string =>
  (rest === "" ? word.replace(/(?<=\w)[.!?…]+$/, "") : word).toLowerCase();

/** Parses the text after a mention. Returns null for a prompt, such as "list the failing tests". */
export function parseMention(text: string): ParsedCommand | null {
  const { word, rest } = firstWord(text.trim());
  const verb = verbIn(word, rest);
  if (verb === "") return { ok: true, command: { kind: "help" } };
  if (!isVerb(verb)) return null;
  const words = rest === "" ? 0 : rest.split(/\s+/).length;
  switch (verb) {
    case "run":
      return parseVerb(verb, rest);
    case "status":
    case "cancel":
    case "retry":
      return words === 0 || (words === 1 && looksLikeRunId(rest)) ? parseVerb(verb, rest) : null;
    case "attach":
      return words === 1 && looksLikeRunId(rest) ? parseVerb(verb, rest) : null;
    case "list":
    case "mute":
    case "unmute":
    case "help":
      return words === 0 ? parseVerb(verb, rest) : null;
    default:
      return verb satisfies never;
  }
}

/** Returns whether the text is for people only: `!aside` comes first, or right after mentions. */
export const isAside = (text: string): boolean => /^\s*(?:@\S+\s+)*!aside\b/i.test(text);

/** Unlike most words, an id has a digit, a dash or an underscore. */
const looksLikeRunId = (word: string): boolean => /^`?[\w.:-]{4,}`?$/.test(word) && /[\d_-]/.test(word);

function parseVerb(verb: Verb, rest: string): ParsedCommand {
  switch (verb) {
    case "run":
      return parseRun(rest);
    case "status":
    case "cancel":
    case "retry": {
      const run = runIdIn(rest);
      if (run === undefined) return problem(problems.notOneRun(verb));
      return { ok: true, command: { kind: verb, run } };
    }
    case "attach": {
      const run = runIdIn(rest);
      if (!run) return problem(problems.attachWithoutRun);
      return { ok: true, command: { kind: "attach", run } };
    }
    case "list":
    case "mute":
    case "unmute":
    case "help":
      // Further words, such as a polite "please", are ignored.
      return { ok: true, command: { kind: verb } };
    default:
      return verb satisfies never;
  }
}

/** Returns null for empty text, and undefined if the text is not one id. */
function runIdIn(text: string): string | null | undefined {
  const id = text.trim().replace(/^[`<]+|[`>]+$/g, "");
  if (id === "") return null;
  return /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

/** Flags come before the prompt, so that a prompt can mention flags; `--` ends them. */
function parseRun(text: string): ParsedCommand {
  const flags: { -readonly [K in keyof RunFlags]: RunFlags[K] } = {};
  let rest = text.trim();
  for (;;) {
    // Some platforms and phones turn two hyphens into a dash.
    const start = /^(?:--|—|–)([A-Za-z][\w-]*)?(=?)/.exec(rest);
    if (!start) break;
    rest = rest.slice(start[0].length);
    const name = start[1]?.toLowerCase();
    if (name === undefined) {
      rest = rest.trimStart();
      break;
    }
    if (!isFlag(name)) return problem(problems.unknownFlag(name, closest(name, flagNames), flagNames));
    const value = takeValue(start[2] === "=" ? rest : rest.trimStart());
    if (value === "unclosed") return problem(problems.unclosedValue(name));
    if (value === null || value.text === "") return problem(problems.missingValue(name));
    if (value.text.length > longestValue) return problem(problems.longValue(name, longestValue));
    rest = value.rest.trimStart();
    if (name === "mcp") {
      const names = value.text.split(",").map((entry) => entry.trim());
      flags.mcp = [...new Set([...(flags.mcp ?? []), ...names.filter((entry) => entry !== "")])];
    } else if (flags[name] === undefined) {
      flags[name] = value.text;
    } else {
      return problem(problems.flagTwice(name));
    }
  }
  if (rest.trim() === "" && flags.skill === undefined) return problem(problems.noPrompt);
  return { ok: true, command: { kind: "run", prompt: rest.trim(), flags } };
}

const closing: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’", "`": "`" };

/** Splits off the first word or quoted text. Returns null if there is none, or another flag follows. */
function takeValue(text: string): { text: string; rest: string } | "unclosed" | null {
  const quote = closing[text.slice(0, 1)];
  if (quote !== undefined) {
    const end = text.indexOf(quote, 1);
    return end < 0 ? "unclosed" : { text: text.slice(1, end).trim(), rest: text.slice(end + 1) };
  }
  const { word, rest } = firstWord(text);
  return word === "" || /^(--|—|–)/.test(word) ? null : { text: word, rest };
}

function firstWord(text: string): { word: string; rest: string } {
  const end = text.search(/\s/);
  return end < 0 ? { word: text, rest: "" } : { word: text.slice(0, end), rest: text.slice(end).trim() };
}
