import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Attachment } from "#agent-runs/schema.ts";
import { syncFolder, writeDurably } from "#disk/durable-file.ts";
import type { KeptAttachment } from "#service/run/run-document.ts";
import { type Result, refused } from "#service/wire/problem.ts";

const mostFiles = 5;
const mostFileBytes = 10_000_000;
/** Below the limit of file systems, because a file is first written under a longer name. */
const mostNameBytes = 200;
const mimeType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w.+="-]{1,100})*$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The files of requests. */
export type Attachments = ReturnType<typeof createAttachments>;

/** `folder` holds one folder for each run with attachments. */
export function createAttachments(folder: string) {
  const folderOf = (runId: string): string => join(folder, runId);
  const remove = (runId: string): Promise<void> => rm(folderOf(runId), { recursive: true, force: true });

  return {
    folder,
    /**
     * Decodes and writes the files. Resolves when they are durable, or with a refusal that names the field;
     * rejects with the file system's error. Keeps all of them or none.
     */
    async keep(runId: string, attachments: readonly Attachment[]): Promise<Result<KeptAttachment[]>> {
      if (attachments.length > mostFiles) {
        return refused("invalid_request", `attachments: at most ${mostFiles}`);
      }
      const names = new Set<string>();
      const files: { readonly kept: KeptAttachment; readonly bytes: Buffer }[] = [];
      for (const [place, { file_name: name, mime_type: mime, data }] of attachments.entries()) {
        const isTwice = names.has(name.toLowerCase());
        const fault = faultOf(name, mime, data) ?? (isTwice ? "file_name: another file has this name" : null);
        if (fault !== null) return refused("invalid_request", `attachments.${place}.${fault}`);
        // Some file systems ignore case.
        names.add(name.toLowerCase());
        const bytes = Buffer.from(data, "base64");
        if (bytes.length > mostFileBytes) {
          const detail = `attachments.${place}.data: more than ${mostFileBytes} bytes`;
          return refused("invalid_request", detail, { status: 413 });
        }
        files.push({ kept: { name, mime, bytes: bytes.length }, bytes });
      }
      if (files.length === 0) return { ok: true, value: [] };
      try {
        await mkdir(folderOf(runId), { recursive: true, mode: 0o700 });
        for (const { kept, bytes } of files) await writeDurably(join(folderOf(runId), kept.name), bytes);
        // The run's folder is new, and `folder` may be.
        for (const path of [folder, dirname(folder)]) await syncFolder(path);
      } catch (error) {
        await remove(runId).catch(() => undefined);
        throw error;
      }
      return { ok: true, value: files.map(({ kept }) => kept) };
    },
    remove,
    /** Whether the run has any. */
    has: async (runId: string): Promise<boolean> => (await stat(folderOf(runId)).catch(() => null)) !== null,
    /** The folder with the run's files under their names. */
    folderOf,
  };
}

/** The faulty field and its fault; null if there is none. */
function faultOf(name: string, mime: string, data: string): string | null {
  if (name === "" || name === "." || name === ".." || /[/\\\p{C}]/u.test(name)) {
    return "file_name: it must be a plain file name";
  }
  if (Buffer.byteLength(name) > mostNameBytes) return `file_name: more than ${mostNameBytes} bytes`;
  if (!mimeType.test(mime)) return "mime_type: it is not a media type";
  if (data.length % 4 !== 0 || !base64.test(data)) return "data: it is not base64";
  return null;
}
