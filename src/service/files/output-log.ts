import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTextTail } from "#service/processes/text-tail.ts";

/** A file with this many characters is followed by another. The last two files are kept. */
const mostOfOne = 500_000;

/**
 * Agents' output on disk as it comes, so that a run keeps it if the service is killed. Text that can't be written
 * is lost; no error stops an agent.
 */
export type OutputLog = ReturnType<typeof createOutputLog>;

/** `most`: the characters that `read` returns at most. */
export function createOutputLog(folder: string, most: number) {
  const path = (runId: string, turn: number): string => join(folder, `${runId}.${turn}`);
  const older = (at: string): string => `${at}.before`;
  const remove = async (at: string): Promise<void> => {
    await Promise.all([rm(at, { force: true }), rm(older(at), { force: true })]);
  };

  return {
    /** Begins an empty file for the turn. `close` resolves when everything is written. */
    async open(runId: string, turn: number): Promise<{ add(text: string): void; close(): Promise<void> }> {
      const at = path(runId, turn);
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
      await remove(at).catch(() => undefined);
      let stream = begin(at);
      let written = 0;
      /** Resolves when the next file is open. Until then text waits in `waiting`. */
      let rotating: Promise<void> | null = null;
      let waiting = "";
      const add = (text: string): void => {
        if (rotating !== null) {
          waiting = (waiting + text).slice(-mostOfOne);
          return;
        }
        stream.write(text);
        written += text.length;
        if (written >= mostOfOne) rotating = rotate().catch(() => undefined);
      };
      const rotate = async (): Promise<void> => {
        await ended(stream);
        await rename(at, older(at)).catch(() => undefined);
        stream = begin(at);
        written = 0;
        rotating = null;
        const text = waiting;
        waiting = "";
        if (text !== "") add(text);
      };
      return {
        add,
        async close() {
          // The text that waited may fill the next file at once.
          while (rotating !== null) await rotating;
          await ended(stream);
        },
      };
    },
    /** The end of the turn's output; "" if there is none. */
    async read(runId: string, turn: number): Promise<string> {
      const at = path(runId, turn);
      const tail = createTextTail(most);
      for (const file of [older(at), at]) tail.add(await readFile(file, "utf8").catch(() => ""));
      return tail.text();
    },
    remove: (runId: string, turn: number): Promise<void> => remove(path(runId, turn)),
    /** Removes the output of all runs. */
    clear: (): Promise<void> => rm(folder, { recursive: true, force: true }),
  };
}

function begin(path: string): WriteStream {
  const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
  stream.on("error", () => undefined);
  return stream;
}

const ended = (stream: WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) return resolve();
    stream.once("close", () => resolve());
    stream.end();
  });
