import { stripVTControlCharacters } from "node:util";

/** The end of a text that comes in pieces: bounded, whatever comes. */
export interface TextTail {
  add(text: string): void;
  /** Without terminal colours; begins with a remark if its beginning was dropped. */
  text(): string;
}

/** `most` in UTF-16 units. */
export function createTextTail(most: number): TextTail {
  let kept = "";
  let dropped = false;
  const cut = (): void => {
    if (kept.length <= most) return;
    kept = kept.slice(-most).toWellFormed();
    dropped = true;
  };
  return {
    add(text) {
      kept += text;
      // Not at every piece: cutting copies.
      if (kept.length > 2 * most) cut();
    },
    text() {
      cut();
      const plain = stripVTControlCharacters(kept);
      return dropped ? `[The beginning was left out.]\n${plain}` : plain;
    },
  };
}
