import { expect, test } from "vitest";
import { problemOf, serving } from "#test/support/service/serving.ts";

test("without a command, the demonstration agent works on a run and says that it only demonstrates", async () => {
  const { api } = await serving();
  const id = await api.create({
    prompt:
      "Fix the flaky test.\n\nThe material below is quoted.\n\n> ask me, and fail on purpose\n\nReference: agent-runs-bot 1",
  });
  expect((await api.run(id)).state).toBe("QUEUED");
  await api.until(id, "INPROGRESS");
  await api.until(id, "SUCCEEDED");
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer).toMatch(/demonstration agent/i);
  expect(answer).toContain("“Fix the flaky test.”");
  expect(answer).toContain("AGENT_COMMAND");
  expect(answer).not.toMatch(/Reference|quoted|on purpose/);
});

test("the demonstration quotes a follow-up", async () => {
  const { api } = await serving();
  const id = await api.create({ prompt: "Fix it." });
  await api.until(id, "SUCCEEDED");
  await api.followUp(id, "Mind the changelog, please.\n\n(from Ada)\n\nReference: agent-runs-bot 2");
  await api.until(id, "SUCCEEDED");
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer).toMatch(/demonstration agent/i);
  expect(answer).toContain("“Mind the changelog, please.”");
  expect(answer).not.toContain("Reference");
});

test("asked for a question, the demonstration is BLOCKED with a question and continues after an answer", async () => {
  const { api } = await serving();
  const id = await api.create({ prompt: "Please ask me which way." });
  await api.until(id, "BLOCKED");
  const question = (await api.said(id)).at(-1) ?? "";
  expect(question).toContain("?");
  expect(question).not.toContain("AGENT_BLOCKED");
  await api.followUp(id, "The left one.");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toContain("The left one.");
});

test("asked to fail, the demonstration fails with a reason", async () => {
  const { api } = await serving();
  const run = await api.until(await api.create({ prompt: "Fail on purpose!" }), "FAILED");
  expect(run.status_message?.message).toMatch(/on purpose/);
});

test("the demonstration can be cancelled while queued and while working", async () => {
  const { api } = await serving({ demoStepMs: 400 });
  const queued = await api.create({ prompt: "x" });
  await api.cancel(queued);
  const working = await api.create({ prompt: "x" });
  await api.until(working, "INPROGRESS");
  await api.cancel(working);
  expect((await api.run(queued)).state).toBe("CANCELLED");
  expect((await api.run(working)).state).toBe("CANCELLED");
  expect(await problemOf(api.send("POST", `/agent/runs/${queued}/cancel`))).toMatchObject({ http: 400 });
});
