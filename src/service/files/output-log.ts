import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTextTail } from "#service/processes/text-tail.ts";

/** What an agent writes, on disk as it comes, so that a killed service's run still has it. */
export interface OutputLog {
  /** Begins the turn's file anew. */
  open(runId: string, turn: number): Promise<OpenOutput>;
  /** The end of what the turn wrote; "" if nothing is known. */
  read(runId: string, turn: number): Promise<string>;
  /** Forgets it. */
  remove(runId: string, turn: number): Promise<void>;
  /** Forgets everything. */
  clear(): Promise<void>;
}

export interface OpenOutput {
  add(text: string): void;
  /** Resolves when nothing more is written. */
  close(): Promise<void>;
}

/** A file is followed by another when it has this many characters; the two last ones are kept. */
const mostOfOne = 500_000;

/**
 * `most` is how many characters `read` answers with. It is a net, not a record: what can't be written is
 * lost and stops nothing.
 */
export function createOutputLog(folder: string, most: number): OutputLog {
  const path = (runId: string, turn: number): string => join(folder, `${runId}.${turn}`);
  const older = (at: string): string => `${at}.before`;

  return {
    async open(runId, turn) {
      const at = path(runId, turn);
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
      await Promise.all([rm(at, { force: true }), rm(older(at), { force: true })]).catch(() => undefined);
      let stream = begin(at);
      let written = 0;
      /** While one file makes room for the next, what comes waits here. */
      let turning: Promise<void> | null = null;
      let waiting = "";
      const add = (text: string): void => {
        if (turning !== null) {
          waiting = (waiting + text).slice(-mostOfOne);
          return;
        }
        stream.write(text);
        written += text.length;
        if (written >= mostOfOne) turning = next().catch(() => undefined);
      };
      const next = async (): Promise<void> => {
        await ended(stream);
        await rename(at, older(at)).catch(() => undefined);
        stream = begin(at);
        written = 0;
        turning = null;
        const text = waiting;
        waiting = "";
        if (text !== "") add(text);
      };
      return {
        add,
        async close() {
          // What came while one file made room may fill the next at once.
          while (turning !== null) await turning;
          await ended(stream);
        },
      };
    },
    async read(runId, turn) {
      const at = path(runId, turn);
      const tail = createTextTail(most);
      for (const file of [older(at), at]) tail.add(await readFile(file, "utf8").catch(() => ""));
      return tail.text();
    },
    async remove(runId, turn) {
      const at = path(runId, turn);
      await Promise.all([rm(at, { force: true }), rm(older(at), { force: true })]);
    },
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

function begin(path: string): WriteStream {
  const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
  // Nobody can do anything about a full disk here.
  stream.on("error", () => undefined);
  return stream;
}

const ended = (stream: WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) return resolve();
    stream.once("close", () => resolve());
    stream.end();
  });
