/** What follows `/agent` or a mention, turned into a command or into a sentence that helps. */

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

/** Longest value of a flag, in characters; a longer one is a slip. */
const longestValue = 200;

/**
 * Parses text in which the first word must be a command. Empty text is `help`. Only `run` goes on behind its
 * line: below any other command stand a comment's other words, such as what an e-mail program quotes.
 */
export function parseCommand(text: string): ParsedCommand {
  const { word, rest } = firstWord(text.trim());
  const [line = "", ...below] = text.trim().split("\n");
  const { rest: onLine } = firstWord(line.trim());
  const verb = verbIn(word, onLine);
  if (verb === "" || verb === "--help" || verb === "-h") return { ok: true, command: { kind: "help" } };
  if (!isVerb(verb)) {
    const near = verbs.find((known) => distance(known, verb) <= 2);
    const meant = near ? `Did you mean \`${near}\`? ` : "";
    // With more words behind it, it may as well be a prompt: `test the login page` is nobody's `list`.
    const start = near && rest === "" ? "" : `To start a run: \`run ${shorten(text.trim(), 60)}\`. `;
    return problem(
      `I don't know the command \`${shorten(word, 40)}\`. ${meant}${start}\`help\` shows them all.`,
    );
  }
  if (verb === "run") return parseVerb(verb, rest);
  if (below.some((other) => /^\s*\/agent(?!\S)/i.test(other))) {
    return problem("One message holds one command. Say the next one in a message of its own.");
  }
  return parseVerb(verb, onLine);
}

/** The word that may be a verb. One that stands alone on its line may be said as a sentence: `status?` */
const verbIn = (word: string, rest: string): string =>
  (rest === "" ? word.replace(/(?<=\w)[.!?…]+$/, "") : word).toLowerCase();

/**
 * Parses text that follows a mention, where people also just talk: null means that it is no command but
 * something said to the agent. `list` alone is a command, "list the failing tests" is not.
 */
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

/** What begins so is for people only, whether or not somebody is addressed first. */
export const isAside = (text: string): boolean => /^\s*(?:@\S+\s+)*!aside\b/i.test(text);

/** An id has a digit, a dash or an underscore; an ordinary word has not. */
const looksLikeRunId = (word: string): boolean => /^`?[\w.:-]{4,}`?$/.test(word) && /[\d_-]/.test(word);

function parseVerb(verb: Verb, rest: string): ParsedCommand {
  switch (verb) {
    case "run":
      return parseRun(rest);
    case "status":
    case "cancel":
    case "retry": {
      const run = runIdIn(rest);
      if (run === undefined) return problem(`\`${verb}\` takes at most one run id: \`${verb} <run>\`.`);
      return { ok: true, command: { kind: verb, run } };
    }
    case "attach": {
      const run = runIdIn(rest);
      if (!run) return problem("`attach` takes the id of the run to follow: `attach <run>`.");
      return { ok: true, command: { kind: "attach", run } };
    }
    case "list":
    case "mute":
    case "unmute":
    case "help":
      // What stands behind these is let pass: nobody should be corrected for a polite "please".
      return { ok: true, command: { kind: verb } };
    default:
      return verb satisfies never;
  }
}

/** null: none given; undefined: not one word. */
function runIdIn(text: string): string | null | undefined {
  const id = text.trim().replace(/^[`<]+|[`>]+$/g, "");
  if (id === "") return null;
  return /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

/** Flags stand before the prompt, so that a prompt may speak of flags; `--` ends them. */
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
    if (!isFlag(name)) {
      const near = flagNames.find((known) => distance(known, name) <= 2);
      const hint = near ? `Did you mean \`--${near}\`?` : `The flags are ${flagList}.`;
      return problem(`I don't know the flag \`--${shorten(name, 40)}\`. ${hint}`);
    }
    const value = takeValue(start[2] === "=" ? rest : rest.trimStart());
    if (value === "unclosed") {
      return problem(`The value of \`--${name}\` begins with a quotation mark that is never closed.`);
    }
    if (value === null || value.text === "") {
      return problem(`\`--${name}\` needs a value: \`run --${name} <value> <prompt>\`.`);
    }
    if (value.text.length > longestValue) {
      return problem(`The value of \`--${name}\` is too long (at most ${longestValue} characters).`);
    }
    rest = value.rest.trimStart();
    if (name === "mcp") {
      const names = value.text.split(",").map((entry) => entry.trim());
      flags.mcp = [...new Set([...(flags.mcp ?? []), ...names.filter((entry) => entry !== "")])];
    } else if (flags[name] === undefined) {
      flags[name] = value.text;
    } else {
      return problem(`\`--${name}\` was given twice.`);
    }
  }
  if (rest.trim() === "" && flags.skill === undefined) {
    return problem("What should the agent do? For example: `run fix the flaky test`.");
  }
  return { ok: true, command: { kind: "run", prompt: rest.trim(), flags } };
}

const flagList = flagNames.map((flag) => `\`--${flag}\``).join(", ");
const closing: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’", "`": "`" };

/** null: there is none. */
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

/** The text, at most `most` characters of it, on one line. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${[...line].slice(0, most - 1).join("")}…`;
}

/** Edits between two short words (Levenshtein); long ones count as far apart. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...b].entries()) {
      const left = next[column] ?? 0;
      const above = row[column + 1] ?? 0;
      const corner = row[column] ?? 0;
      next.push(Math.min(left + 1, above + 1, corner + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 3;
}
