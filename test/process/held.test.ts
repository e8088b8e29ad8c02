import { expect, test } from "vitest";
import { startWorld } from "#test/support/bot/world.ts";
import { eventually } from "#test/support/eventually.ts";

test("a start without GitHub's settings loses no end: they are told after the next start with them", async (context) => {
  const environment: Record<string, string> = {};
  const world = await startWorld(context, { environment });
  const issues: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { number } = await world.github.openIssue({
      user: "bob",
      repo: "octo/app",
      title: `Task ${count}`,
      body: "",
    });
    issues.push(number);
    await world.github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  }
  await world.kill();

  Object.assign(environment, { GITHUB_API_URL: "", GITHUB_TOKEN: "", GITHUB_WEBHOOK_SECRET: "" });
  await world.start();
  await eventually("the ends", async () => {
    const runs = await world.runs();
    return runs.length > 0 && runs.every(({ state }) => state === "SUCCEEDED");
  });
  const ready = await eventually("what waits", async () => {
    const response = await fetch(`${world.botUrl()}/readyz`);
    const body: { github?: string } = await response.json();
    return /^not set up; \d+ updates wait for it$/.test(body.github ?? "") ? response.status : null;
  });
  expect(ready).toBe(200);
  await world.stop();
  // Its greeting names what waits from the second start on, if nothing waited at the first.
  await world.start();
  expect(world.log()).toMatch(/GitHub +not connected; .+ updates? waits? for it/);
  await world.stop();

  for (const name of Object.keys(environment)) delete environment[name];
  await world.start();
  await eventually("every end", () =>
    issues.every((issue) => world.comments(issue).some(({ body }) => body.includes("succeeded"))),
  );
  for (const issue of issues) {
    expect(world.comments(issue).filter(({ body }) => body.includes("I read this"))).toHaveLength(1);
  }
});
