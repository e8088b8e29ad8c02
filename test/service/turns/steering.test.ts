import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { alive } from "#test/support/processes.ts";
import { problemOf, serving } from "#test/support/service/serving.ts";

/** Records its input, prints it, and ends when the file `go` exists. */
const held = "echo $$ > ../pid; cat | tee -a ../given; while ! test -e ../go; do sleep 0.02; done";

const whenGiven = (folder: string, words: string): Promise<true> =>
  eventually(`the agent to be given ${words}`, async () => {
    const given = await readFile(join(folder, "work", "given"), "utf8").catch(() => "");
    return given.includes(words) ? true : null;
  });

const go = (folder: string): Promise<void> => writeFile(join(folder, "work", "go"), "");

test("a follow-up to a queued run reaches the agent with the prompt", async () => {
  const { api, folder } = await serving({ command: held, maxRuns: 1 });
  const first = await api.create({ prompt: "first" });
  await whenGiven(folder, "first");
  const second = await api.create({ prompt: "second" });
  await api.followUp(second, "and mind the tests");
  expect((await api.run(second)).state).toBe("QUEUED");
  expect(await api.said(second)).toEqual(["user: second", "user: and mind the tests"]);
  await go(folder);
  await api.until(first, "SUCCEEDED");
  await api.until(second, "SUCCEEDED");
  expect(await api.said(second)).toEqual([
    "user: second",
    "user: and mind the tests",
    "assistant: second\n\nand mind the tests",
  ]);
});

test("a follow-up to a running run becomes its next turn, until none waits", async () => {
  const { api, folder, lines } = await serving({ command: held });
  const id = await api.create({ prompt: "first" });
  await whenGiven(folder, "first");
  await api.followUp(id, "second");
  await api.followUp(id, "third");
  expect((await api.run(id)).state).toBe("INPROGRESS");
  expect((await api.said(id)).slice(-2)).toEqual(["user: second", "user: third"]);
  await go(folder);
  await api.until(id, "SUCCEEDED");
  const { steps } = await api.talk(id);
  expect(steps.map((step) => step.messages.map(({ role }) => role))).toEqual([
    ["user", "assistant"],
    ["user", "user", "assistant"],
  ]);
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer.match(/<user>\s+first\s+<\/user>\s+<assistant>\s+first\s+<\/assistant>/)).not.toBeNull();
  expect(answer.endsWith("second\n\nthird")).toBe(true);
  // The line comes after what the answers already say.
  const ends = await eventually("two lines about ended turns", () => {
    const ended = lines.filter(({ message }) => message === "a turn ended");
    return ended.length < 2 ? null : ended.map(({ fields }) => fields.state);
  });
  expect(ends).toEqual(["INPROGRESS", "SUCCEEDED"]);
});

test("a follow-up that came while a turn failed is still worked on", async () => {
  const { api, folder } = await serving({
    command: `if test -e failed; then cat; else touch failed; ${held}; exit 1; fi`,
  });
  const id = await api.create({ prompt: "first" });
  await whenGiven(folder, "first");
  await api.followUp(id, "second");
  await go(folder);
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toContain("second");
});

test("a follow-up to an ended run continues it in the same folder with the conversation so far", async () => {
  const { api } = await serving({ command: "cat >> all; cat all; exit $(wc -l < all | grep -c '^1$')" });
  const id = await api.create({ prompt: "first" });
  const ended = await api.until(id, "FAILED");
  await api.followUp(id, "second");
  const again = await api.until(id, "SUCCEEDED");
  expect(again.status_message ?? null).toBeNull();
  expect(again.started_at).toBe(ended.started_at);
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer).toMatch(/^assistant: first\n[\s\S]*<user>\nfirst\n<\/user>[\s\S]*second$/);
});

test("cancelling ends a run's processes, keeps its output, and a follow-up continues it", async () => {
  const { api, folder } = await serving({ command: `${held}` });
  const id = await api.create({ prompt: "first" });
  await whenGiven(folder, "first");
  await eventually("the answer so far", async () => (await api.said(id)).length === 2);
  const pid = Number(await readFile(join(folder, "work", "pid"), "utf8"));
  expect(await api.cancel(id)).toBe(id);
  expect((await api.run(id)).state).toBe("CANCELLED");
  await eventually("the command's end", () => !alive(pid));
  expect((await api.run(id)).state).toBe("CANCELLED");
  expect(await api.said(id)).toEqual(["user: first", "assistant: first"]);
  await api.followUp(id, "second");
  await go(folder);
  await api.until(id, "SUCCEEDED");
});

test("a run that is continued while its cancelled command is still ending waits for it", async () => {
  const { api, folder } = await serving({
    command:
      "trap 'sleep 0.3; echo ended >> ../order; exit' TERM; echo begun >> ../order; " +
      "while ! test -e ../go; do sleep 0.02; done",
    graceMs: 5_000,
  });
  const order = (): Promise<string> => readFile(join(folder, "work", "order"), "utf8").catch(() => "");
  const id = await api.create({ prompt: "first" });
  await eventually("the command's begin", async () => (await order()) !== "");
  await api.cancel(id);
  await api.followUp(id, "second");
  expect((await api.run(id)).state).toBe("QUEUED");
  await go(folder);
  await api.until(id, "SUCCEEDED");
  expect((await order()).trim().split("\n")).toEqual(["begun", "ended", "begun"]);
});

test("a cancelled queued run never runs", async () => {
  const { api, folder } = await serving({ command: held, maxRuns: 1 });
  const first = await api.create({ prompt: "first" });
  await whenGiven(folder, "first");
  const second = await api.create({ prompt: "second" });
  const third = await api.create({ prompt: "third" });
  await api.cancel(second);
  await go(folder);
  await api.until(first, "SUCCEEDED");
  await api.until(third, "SUCCEEDED");
  expect((await api.run(second)).state).toBe("CANCELLED");
  expect(await readFile(join(folder, "work", "given"), "utf8")).not.toContain("second");
});

test("ended runs and runs that wait for an answer can't be cancelled", async () => {
  const { api } = await serving({
    command: 'cat; echo; cat >/dev/null; test -z "$AGENT_MODEL" || echo AGENT_BLOCKED',
  });
  const ended = await api.create({ prompt: "x" });
  await api.until(ended, "SUCCEEDED");
  expect(await problemOf(api.send("POST", `/agent/runs/${ended}/cancel`))).toMatchObject({
    http: 400,
    type: expect.stringMatching(/\/invalid_request$/),
    retryable: false,
  });
  const blocked = await api.create({ prompt: "x", config: { model_id: "asking" } });
  await api.until(blocked, "BLOCKED");
  expect(await problemOf(api.send("POST", `/agent/runs/${blocked}/cancel`))).toMatchObject({
    http: 400,
    type: expect.stringMatching(/\/invalid_request$/),
    retryable: false,
  });
});

test("updated_at is strictly later at each change, even within one millisecond", async () => {
  const { api } = await serving({ command: "cat", now: () => 1_800_000_000_000 });
  const id = await api.create({ prompt: "x" });
  const seen = [(await api.run(id)).created_at, (await api.until(id, "SUCCEEDED")).updated_at];
  await api.followUp(id, "more");
  seen.push((await api.until(id, "SUCCEEDED")).updated_at);
  await api.followUp(id, "more");
  await api.cancel(id).catch(() => undefined);
  seen.push((await api.until(id, "SUCCEEDED", "CANCELLED")).updated_at);
  expect(seen).toEqual([...new Set(seen)].sort());
});

test("a new run continues an earlier conversation", async () => {
  const { api } = await serving({ command: "cat" });
  const first = await api.create({ prompt: "My name is Ada." });
  const { conversation_id } = await api.until(first, "SUCCEEDED");
  const second = await api.create({ prompt: "What is my name?", conversation_id });
  await api.until(second, "SUCCEEDED");
  expect((await api.said(second)).at(-1)).toMatch(/My name is Ada\.[\s\S]*What is my name\?$/);
  expect(
    await problemOf(api.send("POST", "/agent/run", { prompt: "x", conversation_id: "none" })),
  ).toMatchObject({
    http: 400,
    detail: expect.stringContaining("conversation_id"),
  });
});
