import { stripVTControlCharacters } from "node:util";

/** The end of a text that comes in pieces: bounded, whatever comes. */
export interface TextTail {
  add(text: string): void;
  /** Without terminal colours; begins with a remark if its beginning was dropped. */
  text(): string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
const unreadable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Without what nobody can read and some readers refuse: control characters other than tab and line ends. */
export const readable = (text: string): string => text.replaceAll(unreadable, "");

/** A line that was cut is left out whole where it isn't longer: half a secret would not be found in it. */
const mostOfCutLine = 2_000;

/** `most` in UTF-16 units; `clean` is done to what is read. */
export function createTextTail(most: number, clean = readable): TextTail {
  let kept = "";
  let dropped = false;
  /** Asked for often, such as by everybody who watches a run; null once more was added. */
  let told: string | null = null;
  const cut = (): void => {
    if (kept.length <= most) return;
    kept = kept.slice(-most).toWellFormed();
    dropped = true;
    const lineEnd = kept.slice(0, mostOfCutLine).indexOf("\n");
    if (lineEnd >= 0 && lineEnd < most / 2) kept = kept.slice(lineEnd + 1);
  };
  return {
    add(text) {
      kept += text;
      told = null;
      // Not at every piece: cutting copies.
      if (kept.length > 2 * most) cut();
    },
    text() {
      if (told !== null) return told;
      cut();
      const plain = clean(stripVTControlCharacters(kept));
      told = dropped ? `[The beginning was left out.]\n${plain}` : plain;
      return told;
    },
  };
}
