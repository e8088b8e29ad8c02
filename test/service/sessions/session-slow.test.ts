/** Slow readers have a bounded buffer and are closed in the end. */
import { expect, test } from "vitest";
import { newRun } from "#service/run/new-run.ts";
import type { RunDocument } from "#service/run/run-document.ts";
import { begun } from "#service/run/run-life.ts";
import { createSessionStreams } from "#service/sessions/session-stream.ts";
import { eventually } from "#test/support/eventually.ts";
import { silentLog } from "#test/support/logs.ts";

function working(): RunDocument {
  const birth = { id: "one", order: 1, now: 5, sessionKey: "k", earlier: [] };
  const document = begun(newRun({ prompt: "x" }, birth), 6);
  if (document === null) throw new Error("a new run can begin");
  return document;
}

/** Streams of one run whose agent writes 100 kB before each look. */
function writing(stallMs: number) {
  const document = working();
  const state = { output: "", looks: 0 };
  const streams = createSessionStreams({
    runs: { get: () => document.run, read: async () => document },
    live: () => {
      state.looks++;
      state.output += `${"x".repeat(100_000)} ${state.looks}\n`;
      return state.output;
    },
    now: () => 7,
    log: silentLog,
    limits: { streams: 1, stallMs },
  });
  const opened = streams.open("one", "");
  if (!opened.ok || opened.value.body === null) throw new Error("there is room for one");
  return { streams, state, body: opened.value.body };
}

test("a slow reader has at most one change buffered and gets the rest later", async () => {
  const { streams, state, body } = writing(60_000);
  await eventually("four looks", () => state.looks >= 4);
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const first = await reader.read();
  const second = await reader.read();
  const waited = decoder.decode(first.value) + decoder.decode(second.value);
  expect(waited.length).toBeLessThan(150_000);
  const third = decoder.decode((await reader.read()).value);
  expect(third.length).toBeGreaterThan(300_000);
  streams.stop();
  expect((await reader.read()).done).toBe(true);
});

test("a reader that stalls for long is closed and makes room for another", async () => {
  const { streams } = writing(1);
  expect(streams.open("one", "").ok).toBe(false);
  await eventually("room for another", () => streams.open("one", "").ok);
  streams.stop();
});
