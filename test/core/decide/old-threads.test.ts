import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Thread } from "#core/thread.ts";
import { alice, place, runAt, story } from "#test/support/core/story.ts";

/** Threads as saved by version 1: the request is in the create effect, and commands are text. */
const threads: Record<string, Thread> = JSON.parse(
  readFileSync(join(import.meta.dirname, "old-threads.json"), "utf8"),
);
const upgraded = (name: string) => story({}, threads[name]);

test("a saved request gets its place's messages as context and becomes a run", () => {
  const it = upgraded("request, follow-up and hand-over");
  it.done("read", { messages: [{ author: "bob", at: "t", text: "Mondays!", bot: false }], omitted: 0 });
  expect(it.request().prompt.split("\n")[0]).toBe("fix it");
  expect(it.request().prompt).toContain("> Mondays!");
  it.done("create", { runId: "run-1", state: "QUEUED" });
  expect(it.one("follow-up").message).toContain("and hurry");
  expect(it.thread().runs[0]).toMatchObject({ runId: "run-1", asked: "fix it" });
});

test("a saved command is understood from its text where it is handed over to", () => {
  const home = story();
  const { event } = upgraded("request, follow-up and hand-over").one("hand-over");
  home.give(event);
  expect(home.one("hand-over").event.command).toEqual({ kind: "cancel", run: "run-9" });
});

test("a saved command that named no run goes to the only unfinished run", () => {
  const it = upgraded("list");
  it.done("list", {
    runs: [runAt("INPROGRESS", 1, { metadata: { "agent-runs-bot.scope": "slack:T1:C1" } })],
  });
  expect(it.one("hand-over").event).toMatchObject({ by: alice, command: { kind: "cancel", run: "run-1" } });
});

test("a saved question about a run is answered, and the run is not followed", () => {
  const it = upgraded("fetch");
  it.done("fetch", { run: runAt("INPROGRESS", 5, { run_id: "run-9" }) });
  expect(it.said("tell")[0]).toContain("In progress");
  expect(it.thread().runs).toEqual([]);
});

test("a saved run that waits for its card in a locked issue is not created without it", () => {
  const it = upgraded("locked");
  it.fails("card", { reason: "The conversation is locked." });
  expect(it.effects("create")).toEqual([]);
  expect(it.thread().runs[0]?.failed).toBe("The conversation is locked.");
  expect(it.thread().places).not.toContain(place);
});
