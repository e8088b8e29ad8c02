import { stripVTControlCharacters } from "node:util";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
const unreadable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Removes control characters other than tabs and line ends, which some readers refuse. */
export const readable = (text: string): string => text.replaceAll(unreadable, "");

/** A cut line up to this length is dropped whole, because redaction would not find half a secret in it. */
const mostOfCutLine = 2_000;

/** Collects a text piece by piece and keeps its end. */
export type TextTail = ReturnType<typeof createTextTail>;

/** Keeps `most` UTF-16 units; `clean` is applied to the text that is returned. */
export function createTextTail(most: number, clean = readable) {
  let kept = "";
  let dropped = false;
  /** The last result. Cleaning 250,000 characters takes 20 ms, and every watched run is read each 0.4 s. */
  let result: string | null = null;
  const cut = (): void => {
    if (kept.length <= most) return;
    kept = kept.slice(-most).toWellFormed();
    dropped = true;
    const lineEnd = kept.slice(0, mostOfCutLine).indexOf("\n");
    if (lineEnd >= 0 && lineEnd < most / 2) kept = kept.slice(lineEnd + 1);
  };
  return {
    add(text: string): void {
      kept += text;
      result = null;
      // Not after every piece, because cutting copies the text.
      if (kept.length > 2 * most) cut();
    },
    /** The text without terminal colours; begins with a note if its beginning was dropped. */
    text(): string {
      if (result !== null) return result;
      cut();
      const plain = clean(stripVTControlCharacters(kept));
      result = dropped ? `[The beginning is left out.]\n${plain}` : plain;
      return result;
    },
  };
}

const mostLines = 5;

/** The last lines of a command's output, for people. */
export const lastLines = (text: string): string => text.trim().split("\n").slice(-mostLines).join("\n");
