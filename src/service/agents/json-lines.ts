/** Reads what a program prints that tells of its work as JSON, one event a line. */

/** What an event means to people. The last words said are the answer, unless it is told apart. */
export type Told =
  | { readonly kind: "said"; readonly text: string }
  | { readonly kind: "did"; readonly text: string }
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "failed"; readonly text: string };

/** Knows one program's events; those that it does not know mean nothing. */
export type ReadEvent = (event: unknown) => readonly Told[];

export interface EventReader {
  /** The next piece of the output. */
  add(text: string): void;
  /** There is no more; null: nothing was told of it. */
  end(): { readonly answer: string | null; readonly fault: string | null };
}

/** A longer line, such as one with a picture in it, is let go by. */
const mostLine = 5_000_000;
const mostDeed = 200;
/** Of lines that nobody understood, in case that none is understood. */
const mostUnknown = 20_000;

/**
 * `write` is given what people can read, as it comes; lines that are no JSON are passed on as they are. `redact` is
 * done to what is cut: half a secret would not be found.
 */
export function createEventReader(
  read: ReadEvent,
  write: (text: string) => void,
  redact: (text: string) => string,
): EventReader {
  let pieces: string[] = [];
  let length = 0;
  let unknown = "";
  let understood = false;
  let said: string | null = null;
  let answer: string | null = null;
  let fault: string | null = null;

  function tell(told: Told): void {
    understood = true;
    switch (told.kind) {
      case "said":
        said = told.text;
        write(`\n${told.text.trim()}\n\n`);
        return;
      case "did":
        write(`▸ ${firstLine(redact(told.text))}\n`);
        return;
      case "answered":
        answer = told.text;
        return;
      case "failed":
        fault = told.text;
        return;
      default:
        told satisfies never;
    }
  }

  function line(): void {
    const text = length > mostLine ? "" : pieces.join("");
    pieces = [];
    length = 0;
    if (text.trim() === "") return understood ? undefined : write("\n");
    const event = parsed(text);
    if (event === null) return write(`${text}\n`);
    if (!understood) unknown = `${unknown}${text}\n`.slice(-mostUnknown);
    for (const told of read(event)) tell(told);
  }

  return {
    add(text) {
      const [first = "", ...others] = text.split("\n");
      for (const [at, piece] of [first, ...others].entries()) {
        if (at > 0) line();
        length += piece.length;
        if (length <= mostLine) pieces.push(piece);
        else pieces = [];
      }
    },
    end() {
      if (length > 0) line();
      if (!understood && unknown !== "") write(unknown);
      // Some versions of claude tell an empty result after words that they have told before.
      return { answer: answer?.trim() ? answer : (said ?? answer), fault };
    },
  };
}

function parsed(text: string): object | null {
  try {
    const event: unknown = JSON.parse(text);
    return typeof event === "object" ? event : null;
  } catch {
    return null;
  }
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > mostDeed ? `${line.slice(0, mostDeed - 1).toWellFormed()}…` : line;
}
