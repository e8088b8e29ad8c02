import { stripVTControlCharacters } from "node:util";

/** The end of a text that comes in pieces: bounded, whatever comes. */
export interface TextTail {
  add(text: string): void;
  /** Without terminal colours; begins with a remark if its beginning was dropped. */
  text(): string;
}

/** `most` in UTF-16 units; `clean` is done to what is read. */
export function createTextTail(most: number, clean = (text: string): string => text): TextTail {
  let kept = "";
  let dropped = false;
  /** Asked for often, such as by everybody who watches a run; null once more was added. */
  let told: string | null = null;
  const cut = (): void => {
    if (kept.length <= most) return;
    kept = kept.slice(-most).toWellFormed();
    dropped = true;
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
