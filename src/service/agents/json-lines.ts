/** Reads the output of programs that report their work as JSON, one event a line. */

/** An event for people. The last `said` is the answer unless there is an `answered`. */
export interface AgentEvent {
  readonly kind: "said" | "did" | "answered" | "failed";
  readonly text: string;
}

/** Translates one program's events. Unknown events translate to nothing. */
export type ReadEvent = (event: unknown) => readonly AgentEvent[];

/** Longer lines, such as those with pictures, are ignored. */
const mostLine = 5_000_000;
/** The most characters of a tool call that are shown. */
const mostDeed = 200;
/** The most characters of unknown events, which are shown if no event is known. */
const mostUnknown = 20_000;

/**
 * Passes readable text to `write` as it comes; lines that are not JSON pass unchanged. `redact` is applied to text
 * before it is cut, because half a secret would not be found.
 */
export function createEventReader(
  read: ReadEvent,
  write: (text: string) => void,
  redact: (text: string) => string,
) {
  let pieces: string[] = [];
  let length = 0;
  let unknown = "";
  let understood = false;
  let said: string | null = null;
  let answer: string | null = null;
  let fault: string | null = null;

  function show(event: AgentEvent): void {
    understood = true;
    switch (event.kind) {
      case "said":
        said = event.text;
        write(`\n${event.text.trim()}\n\n`);
        return;
      case "did":
        write(`▸ ${firstLine(redact(event.text))}\n`);
        return;
      case "answered":
        answer = event.text;
        return;
      case "failed":
        fault = event.text;
        return;
      default:
        event.kind satisfies never;
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
    for (const each of read(event)) show(each);
  }

  return {
    /** Takes the next piece of the output. */
    add(text: string): void {
      const [first = "", ...others] = text.split("\n");
      for (const [at, piece] of [first, ...others].entries()) {
        if (at > 0) line();
        length += piece.length;
        if (length <= mostLine) pieces.push(piece);
        else pieces = [];
      }
    },
    /** Ends the output. null: the program reported no answer, or no fault. */
    end(): { readonly answer: string | null; readonly fault: string | null } {
      if (length > 0) line();
      if (!understood && unknown !== "") write(unknown);
      // Some versions of claude report an empty result after the text of their answer.
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
