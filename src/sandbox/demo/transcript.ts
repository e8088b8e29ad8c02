/** Lines for a terminal: time, place, person, text. */

/** See `createTranscript`. */
export type Transcript = ReturnType<typeof createTranscript>;

const widest = 100;

/** `now` in milliseconds since the epoch; lines show the seconds since the beginning. */
export function createTranscript(print: (line: string) => void, now: () => number) {
  const start = now();
  const time = (): string => `${((now() - start) / 1000).toFixed(1).padStart(6)} s`;
  return {
    heading: (text: string): void => print(`\n${text}`),
    note: (text: string): void => print(`${time()}  ${text}`),
    /** An act of a person or the bot. Lines after the first are indented below it. */
    line(where: "Slack" | "GitHub", who: string, what: string): void {
      const margin = `${" ".repeat(8)}  ${" ".repeat(6)}  ${" ".repeat(14)}  `;
      const [first = "", ...others] = what
        .split("\n")
        .flatMap((line) => folded(line, widest - margin.length));
      print(`${time()}  ${where.padEnd(6)}  ${who.padEnd(14)}  ${first}`);
      for (const other of others) print(`${margin}${other}`);
    },
  };
}

/** The line in pieces of at most `width` characters, broken between words if possible. */
function folded(line: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const word of line.split(" ")) {
    if (piece !== "" && piece.length + 1 + word.length > width) {
      pieces.push(piece);
      piece = word;
    } else piece = piece === "" ? word : `${piece} ${word}`;
  }
  return [...pieces, piece];
}
