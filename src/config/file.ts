import { type Document, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import type { ReadFile } from "#ports.ts";

const defaultFile = "agent-runs-bot.yaml";

/** The result of `readYaml`. */
export type YamlReading<T> =
  | {
      readonly ok: true;
      /** Its name in sentences for people. */
      readonly called: string;
      readonly value: T;
      /** The unparsed value. */
      readonly given: unknown;
      /** Whether it has the key at its top. */
      has(key: string): boolean;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads the config file by a schema. The file need not exist unless it was `chosen` (`CONFIG_FILE`). Problems are
 * sentences that name the key and never repeat a value, which may be a secret.
 */
export function readYaml<S extends z.ZodType>(
  chosen: string | undefined,
  readFile: ReadFile,
  schema: S,
): YamlReading<z.output<S>> {
  const called = chosen ?? defaultFile;
  const problem = (sentence: string) => ({ ok: false, problems: [sentence] }) as const;
  let content: string | null;
  try {
    content = readFile(called);
  } catch {
    return problem(`CONFIG_FILE can't be read: check that ${called} is a file and who may read it.`);
  }
  if (content === null && chosen !== undefined) {
    return problem(`CONFIG_FILE names ${called}, which does not exist: correct the path, or unset it.`);
  }
  const lines = new LineCounter();
  const document = parseDocument(content ?? "", { prettyErrors: false, lineCounter: lines });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ code, pos: [start] }) => {
      const fault = code.toLowerCase().replaceAll("_", " ");
      return `${called}, line ${lines.linePos(start).line}, is not valid YAML (${fault}).`;
    });
    return { ok: false, problems };
  }
  const plain = plainValue(document);
  if (plain === null) {
    return problem(`${called} has an alias (*name) without its anchor, or too many aliases.`);
  }
  const given = plain.value ?? {};
  const parsed = schema.safeParse(given);
  if (parsed.success) {
    return { ok: true, called, value: parsed.data, given, has: (key) => document.has(key) };
  }
  return { ok: false, problems: parsed.error.issues.flatMap((issue) => sentences(called, issue)) };
}

/** Returns null where `yaml` throws: an alias has no anchor, or the aliases expand to far more than the file. */
function plainValue(document: Document): { readonly value: unknown } | null {
  try {
    return { value: document.toJS() };
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

/** The issue as sentences for people. */
function sentences(called: string, issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join(".");
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map(
        (key) => `${called}: ${[...issue.path, key].join(".")} is not known; ${issue.message}.`,
      );
    case "invalid_key":
      return issue.issues.map(({ message }) => `${called}: ${at} is not a valid name; ${message}.`);
    default:
      return [`${called}: ${at || "the whole"} ${issue.message}.`];
  }
}
