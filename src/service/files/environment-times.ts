import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import { durableFile } from "#disk/durable-file.ts";
import type { EnvironmentSpec } from "#service/catalog.ts";

const times = z.record(z.string(), z.object({ digest: z.string(), at: z.number() }));

/**
 * When the declaration of each environment last changed, by id, in milliseconds since the epoch. Remembers the
 * declarations in `folder`; one that is not remembered counts as changed now. Never rejects: if the file can't be
 * read or written, that is logged.
 */
export async function environmentTimes(
  folder: string,
  environments: readonly EnvironmentSpec[],
  now: number,
  log: Log,
): Promise<ReadonlyMap<string, number>> {
  const file = durableFile(join(folder, "environments.json"), (value) => times.parse(value));
  const failed = (error: unknown): null => {
    log.warn("the times of the environments' last changes can't be kept", { error });
    return null;
  };
  const before = new Map(Object.entries((await file.read().catch(failed)) ?? {}));
  const after = environments.map((spec) => {
    const digest = digestOf(spec);
    const known = before.get(spec.id);
    return [spec.id, known?.digest === digest ? known : { digest, at: now }] as const;
  });
  if (after.length !== before.size || after.some(([id, time]) => before.get(id) !== time)) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
      .then(() => file.write(Object.fromEntries(after)))
      .catch(failed);
  }
  return new Map(after.map(([id, { at }]) => [id, at]));
}

/** Leaves out the values of the variables, which may be secret. */
const digestOf = ({ variables, ...rest }: EnvironmentSpec): string =>
  createHash("sha256")
    .update(JSON.stringify([Object.entries(rest).sort(), Object.keys(variables).sort()]))
    .digest("base64url");
