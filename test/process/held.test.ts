import { expect, test } from "vitest";
import { startWorld } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

test("a start without GitHub's settings loses no end: they are told after the next start with them", async (context) => {
  const environment: Record<string, string> = {};
  const world = await startWorld(context, { environment, timeoutMs: 10_000 });
  const issues: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { number } = await world.github.openIssue({
      user: "bob",
      repo: "octo/app",
      title: `take your time ${count}`,
      body: "",
    });
    issues.push(number);
    await world.github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  }
  await eventually("the runs", async () => {
    const runs = await world.runs();
    return runs.length === issues.length && runs.every(({ state }) => state === "INPROGRESS");
  });
  await eventually("the cards", () => issues.every((issue) => world.comments(issue).length === 1));
  await world.kill();

  Object.assign(environment, { GITHUB_API_URL: "", GITHUB_TOKEN: "", GITHUB_WEBHOOK_SECRET: "" });
  await world.start();
  // The runs end, since they take too long.
  await eventually("the ends", async () => (await world.runs()).every(({ state }) => state === "FAILED"));
  const status = await eventually("what waits", async () => {
    const response = await fetch(`${world.botUrl()}/readyz`);
    const body: { github?: string } = await response.json();
    return /^not set up; \d+ updates wait for it$/.test(body.github ?? "") ? response.status : null;
  });
  expect(status).toBe(200);
  await world.stop();
  await world.start();
  expect(world.log()).toMatch(/GitHub +not connected; .+; \d+ updates wait for it/);
  await world.stop();

  for (const name of Object.keys(environment)) if (name.startsWith("GITHUB")) delete environment[name];
  await world.start();
  const told = (issue: number) => world.comments(issue).filter(({ body }) => /\bfailed\b/i.test(body));
  await eventually("every end", () => issues.every((issue) => told(issue).length === 2));
  for (const issue of issues) expect(world.comments(issue)).toHaveLength(2);
});
