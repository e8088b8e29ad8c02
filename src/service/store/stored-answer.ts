/**
 * The JSON that answers for a run, kept in its row as far as it can be: nothing is parsed to answer. What a run
 * and its answer both have, as they have it, stands last in the run's JSON and is sent from there.
 */
import { crc32 } from "node:zlib";
import type { Run } from "#service/run/run-document.ts";
import { runItemOf } from "./run-wire.ts";

export interface WireRow {
  /** The run as JSON. */
  readonly run: string;
  /** How the answer begins, up to the session link. */
  readonly wire: string;
  /** What the session link's key is made from. */
  readonly secret: string;
  /** How the answer ends: with so many characters, the last ones of `run`. */
  readonly tail: number;
  /** Of `run`, `wire` and `secret`: a row that does not agree with it is not answered from. */
  readonly sum: number;
}

/** What answers for a run. */
export interface RunAnswer {
  readonly id: string;
  readonly sessionKey: string;
  /** `RunItem` as JSON. */
  withLink(sessionLink: string): string;
}

/** Whoever changes `runItemOf` raises it: then what was written before is not sent any more. */
const wireVersion = 1;

export function wireRowOf(whole: Run): WireRow {
  const { state, title, metadata, prompt, ...others } = whole;
  const { state: _, title: __, metadata: ___, prompt: ____, session_link, ...item } = runItemOf(whole, "");
  // Written once, whole: taking long texts apart and together again costs more than writing the short part twice.
  const run = JSON.stringify({ ...others, state, title, metadata, prompt });
  const tail = run.length - JSON.stringify(others).length;
  const wire = `${JSON.stringify(item).slice(0, -1)},"session_link":`;
  return {
    run,
    wire,
    secret: whole.sessionKey,
    tail,
    sum: sumOf(run, wire, whole.sessionKey),
  };
}

const sumOf = (run: string, wire: string, secret: string): number =>
  crc32(secret, crc32(wire, crc32(run, wireVersion)));

/** What answers for the run with the row; null if the row was written by another version, or is damaged. */
export function answerOf(
  id: string,
  row: { readonly [Column in keyof WireRow]?: unknown },
): RunAnswer | null {
  const { run, wire, secret, tail, sum } = row;
  if (typeof run !== "string" || typeof wire !== "string" || typeof secret !== "string") return null;
  if (typeof tail !== "number" || sum !== sumOf(run, wire, secret)) return null;
  return {
    id,
    sessionKey: secret,
    withLink: (sessionLink) => `${wire}${JSON.stringify(sessionLink)},${run.slice(-tail)}`,
  };
}
