import { readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Log } from "#base/log.ts";
import { BrokenDocument, durableFile, isMissing, syncFolder } from "#disk/durable-file.ts";
import { freeName } from "#disk/free-name.ts";
import { parseRunDocument, type RunDocument } from "#service/run/run-document.ts";

/** The database writes these many runs in few transactions. */
const atOnce = 200;

/**
 * Imports the runs of earlier versions, which kept each run in a file of `folder`, and renames the folder to
 * `<folder>.imported`. An interrupted import is repeated at the next start and adds nothing twice. Files that can't
 * be read are logged and renamed to `*.broken`. Rejects if the disk fails, so that no run is missed.
 */
export async function importRuns(
  folder: string,
  add: (document: RunDocument) => Promise<void>,
  log: Log,
): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (names === null) return;
  const places = new Set<number>();
  let added = 0;

  async function importOne(name: string): Promise<void> {
    const path = join(folder, name);
    try {
      const document = await durableFile(path, parse(basename(name, ".json"))).read();
      if (document === null) return;
      if (places.has(document.run.order)) throw new BrokenDocument(`${name} has the place of another run`);
      places.add(document.run.order);
      await add(document);
      added += 1;
    } catch (error) {
      if (!(error instanceof BrokenDocument)) throw error;
      log.error("a run's document can't be read and is set aside", { file: `${name}.broken`, error });
      await rename(path, `${path}.broken`);
    }
  }

  const documents = names.filter((name) => name.endsWith(".json")).sort();
  for (let from = 0; from < documents.length; from += atOnce) {
    const done = await Promise.allSettled(documents.slice(from, from + atOnce).map(importOne));
    for (const each of done) if (each.status === "rejected") throw each.reason;
  }
  const aside = freeName(`${folder}.imported`);
  await rename(folder, aside);
  await syncFolder(dirname(folder));
  log.info("the runs of an earlier version were imported", { runs: added, aside });
}

const parse =
  (id: string) =>
  (value: unknown): RunDocument => {
    const document = parseRunDocument(value);
    if (document.run.id !== id) throw new Error("it is the document of another run");
    return document;
  };
