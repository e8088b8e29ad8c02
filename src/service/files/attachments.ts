import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Attachment } from "#agent-runs/schema.ts";
import { syncFolder, writeDurably } from "#disk/durable-file.ts";
import type { KeptAttachment } from "#service/run/run-document.ts";
import { type Result, refused } from "#service/wire/problem.ts";

/** The files that came with requests, each run's in a folder of its own. */
export interface Attachments {
  readonly folder: string;
  /**
   * Decodes and writes them. Resolves when they are durable, or with a refusal that names the field; then
   * nothing is kept. Rejects with the file system's error; then nothing is kept either.
   */
  keep(runId: string, attachments: readonly Attachment[]): Promise<Result<KeptAttachment[]>>;
  remove(runId: string): Promise<void>;
  /** Whether any are kept for the run. */
  has(runId: string): Promise<boolean>;
  /** Where the run's files are, each under its name. */
  folderOf(runId: string): string;
}

const mostFiles = 5;
const mostFileBytes = 10_000_000;
/** Less than file systems take, because a file is first written under a longer name. */
const mostNameBytes = 200;
const mimeType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w.+="-]{1,100})*$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

export function createAttachments(folder: string): Attachments {
  const folderOf = (runId: string): string => join(folder, runId);
  const remove = (runId: string): Promise<void> => rm(folderOf(runId), { recursive: true, force: true });

  return {
    folder,
    async keep(runId, attachments) {
      if (attachments.length > mostFiles) {
        return refused("invalid_request", `attachments: at most ${mostFiles}`);
      }
      const names = new Set<string>();
      const files: { readonly kept: KeptAttachment; readonly bytes: Buffer }[] = [];
      for (const [place, { file_name: name, mime_type: mime, data }] of attachments.entries()) {
        const fault =
          faultOf(name, mime, data) ?? (names.has(name.toLowerCase()) ? "file_name: twice" : null);
        if (fault !== null) return refused("invalid_request", `attachments.${place}.${fault}`);
        // Some file systems take two spellings for one name.
        names.add(name.toLowerCase());
        const bytes = Buffer.from(data, "base64");
        if (bytes.length > mostFileBytes) {
          const detail = `attachments.${place}.data: more than ${mostFileBytes} bytes`;
          return { ok: false, refusal: { code: "invalid_request", detail, status: 413 } };
        }
        files.push({ kept: { name, mime, bytes: bytes.length }, bytes });
      }
      if (files.length === 0) return { ok: true, value: [] };
      try {
        await mkdir(folderOf(runId), { recursive: true, mode: 0o700 });
        for (const { kept, bytes } of files) await writeDurably(join(folderOf(runId), kept.name), bytes);
        // The run's folder is new, and the one that it is in may be.
        for (const path of [folder, dirname(folder)]) await syncFolder(path);
      } catch (error) {
        await remove(runId).catch(() => undefined);
        throw error;
      }
      return { ok: true, value: files.map(({ kept }) => kept) };
    },
    remove,
    has: async (runId) => (await stat(folderOf(runId)).catch(() => null)) !== null,
    folderOf,
  };
}

function faultOf(name: string, mime: string, data: string): string | null {
  if (name === "" || name === "." || name === ".." || /[/\\\p{C}]/u.test(name)) {
    return "file_name: it must be a plain file name";
  }
  if (Buffer.byteLength(name) > mostNameBytes) return `file_name: more than ${mostNameBytes} bytes`;
  if (!mimeType.test(mime)) return "mime_type: it is no media type";
  if (data.length % 4 !== 0 || !base64.test(data)) return "data: it is not base64";
  return null;
}
